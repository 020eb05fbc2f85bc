#include "text/jinja/strftime.h"

#include <algorithm>
#include <chrono>

#include "base/fail.h"

namespace mummu::jinja {

namespace {

constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};

struct Time {
  int year, month, day, weekday,
      year_day;  // month and day from 1, weekday 0 is Sunday, year_day from 0
  int hour, minute, second;
  int64_t seconds;
};

Time split(int64_t now) {
  using namespace std::chrono;
  const sys_seconds point{seconds{now}};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss<seconds> clock{point - day};
  const sys_days new_year = date.year() / January / 1;
  return {static_cast<int>(date.year()),
          static_cast<int>(static_cast<unsigned>(date.month())),
          static_cast<int>(static_cast<unsigned>(date.day())),
          static_cast<int>(weekday{day}.c_encoding()),
          static_cast<int>((day - new_year).count()),
          static_cast<int>(clock.hours().count()),
          static_cast<int>(clock.minutes().count()),
          static_cast<int>(clock.seconds().count()),
          now};
}

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// Week and its year by ISO 8601: weeks start on Monday, the first holds the year's first Thursday.
std::pair<int, int> iso_week(const Time& t) {
  const int monday = (t.weekday + 6) % 7;
  const int week = (t.year_day - monday + 10) / 7;
  if (week < 1) {
    const int days = is_leap(t.year - 1) ? 366 : 365;
    return {(t.year_day + days - monday + 10) / 7, t.year - 1};
  }
  const int days = is_leap(t.year) ? 366 : 365;
  if (week == 53 && t.year_day - monday + 3 >= days) return {1, t.year + 1};
  return {week, t.year};
}

// glibc's flags: - no padding, _ blanks, 0 zeros, ^ upper case.
struct Flags {
  char pad = '\0';
  bool upper = false;
};

std::string number(int64_t value, int width, char fill, Flags flags) {
  if (flags.pad == '-') return fmt::format("{}", value);
  const char with = flags.pad == '_' ? ' ' : flags.pad == '0' ? '0' : fill;
  return with == ' ' ? fmt::format("{:{}d}", value, width) : fmt::format("{:0{}d}", value, width);
}

// A directive that stands for others; empty if it does not.
std::string_view composed(char c) {
  switch (c) {
    case 'c':
      return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
      return "%m/%d/%y";
    case 'F':
      return "%Y-%m-%d";
    case 'R':
      return "%H:%M";
    case 'r':
      return "%I:%M:%S %p";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    default:
      return {};
  }
}

// Words and punctuation; empty if the directive is a number.
std::string words(char c, const Time& t) {
  switch (c) {
    case 'a':
      return std::string(kDays[t.weekday].substr(0, 3));
    case 'A':
      return std::string(kDays[t.weekday]);
    case 'b':
    case 'h':
      return std::string(kMonths[t.month - 1].substr(0, 3));
    case 'B':
      return std::string(kMonths[t.month - 1]);
    case 'p':
      return t.hour < 12 ? "AM" : "PM";
    case 'P':
      return t.hour < 12 ? "am" : "pm";
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    default:
      return {};
  }
}

Result<std::string> digits(char c, const Time& t, Flags flags) {
  const int hour12 = t.hour % 12 == 0 ? 12 : t.hour % 12;
  switch (c) {
    case 'C':
      return number(t.year / 100, 2, '0', flags);
    case 'd':
      return number(t.day, 2, '0', flags);
    case 'e':
      return number(t.day, 2, ' ', flags);
    case 'f':
      return std::string("000000");
    case 'g':
      return number(iso_week(t).second % 100, 2, '0', flags);
    case 'G':
      return number(iso_week(t).second, 1, '0', flags);
    case 'H':
      return number(t.hour, 2, '0', flags);
    case 'I':
      return number(hour12, 2, '0', flags);
    case 'j':
      return number(t.year_day + 1, 3, '0', flags);
    case 'k':
      return number(t.hour, 2, ' ', flags);
    case 'l':
      return number(hour12, 2, ' ', flags);
    case 'm':
      return number(t.month, 2, '0', flags);
    case 'M':
      return number(t.minute, 2, '0', flags);
    case 's':
      return number(t.seconds, 1, '0', flags);
    case 'S':
      return number(t.second, 2, '0', flags);
    case 'u':
      return number(t.weekday == 0 ? 7 : t.weekday, 1, '0', flags);
    case 'U':
      return number((t.year_day + 7 - t.weekday) / 7, 2, '0', flags);
    case 'V':
      return number(iso_week(t).first, 2, '0', flags);
    case 'w':
      return number(t.weekday, 1, '0', flags);
    case 'W':
      return number((t.year_day + 7 - (t.weekday + 6) % 7) / 7, 2, '0', flags);
    case 'y':
      return number(t.year % 100, 2, '0', flags);
    case 'Y':
      return number(t.year, 1, '0', flags);
    case 'z':
    case 'Z':
      return std::string();  // the time has no zone, as datetime.now()
    default:
      return fail(Error::unsupported, "the strftime directive '%{}' is unsupported", c);
  }
}

Result<std::string> expand(std::string_view format, const Time& t) {
  std::string out;
  for (size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      out += format[at];
      continue;
    }
    Flags flags;
    for (++at; at + 1 < format.size() &&
               std::string_view("-_0^").find(format[at]) != std::string_view::npos;
         ++at) {
      if (format[at] == '^') {
        flags.upper = true;
      } else {
        flags.pad = format[at];
      }
    }
    std::string part = words(format[at], t);
    if (const std::string_view several = composed(format[at]); !several.empty()) {
      MUMMU_TRY(part, expand(several, t));
    } else if (part.empty()) {
      MUMMU_TRY(part, digits(format[at], t, flags));
    }
    if (flags.upper) {
      std::transform(part.begin(), part.end(), part.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    }
    out += part;
  }
  return out;
}

constexpr size_t kMaxFormat = 64 << 10;            // bytes
constexpr int64_t kMinYear1 = -62'135'596'800;     // 0001-01-01
constexpr int64_t kMaxYear9999 = 253'402'300'799;  // 9999-12-31, the last that Python knows

}  // namespace

Result<std::string> format_time(std::string_view format, int64_t now) {
  if (format.size() > kMaxFormat)
    return fail(Error::invalid, "a time format of {} bytes", format.size());
  if (now < kMinYear1 || now > kMaxYear9999)
    return fail(Error::invalid, "a time outside the years 1 to 9999");
  return expand(format, split(now));
}

}  // namespace mummu::jinja
