// Hostile templates end in a bound, within 2 s of processor time and 64 MiB, and on a small stack.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "mummu/chat.h"

namespace mummu {

namespace {

std::string times(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

const std::vector<std::string>& hostile() {
  static const std::string kDoubling =
      "{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}";
  static const std::vector<std::string> kAll = {
      "{% for i in range(10**9) %}x{% endfor %}",
      "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
      "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
      "{% macro m(x) %}{% if x %}{% for i in x %}{{ (((m(x)|upper)|lower)~'a')[0] }}{% endfor %}{% "
      "endif %}{% endmacro %}{{ m([1]) }}",
      "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% set ns = namespace(s='aaaaaaaa') %}" + kDoubling,
      "{% set ns = namespace(s=[1]) %}" + kDoubling,
      "{% set ns = namespace(s=(1,)) %}{% for i in range(60) %}{% set ns.s = (ns.s, ns.s) %}{% "
      "endfor %}{{ ns.s }}",
      "{% set ns = namespace(s=(1,)) %}{% set n2 = namespace(s=(1,)) %}{% for i in range(60) %}{% "
      "set ns.s = (ns.s, ns.s) %}"
      "{% set n2.s = (n2.s, n2.s) %}{% endfor %}{{ ns.s == n2.s }}",
      "{% set ns = namespace(s=1) %}{% for i in range(99999) %}{% set ns.s = [ns.s] %}{% endfor "
      "%}{{ ns.s }}",
      "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}",
      "{{ 'a'*10**9 }}",
      "{{ [1]*10**9 }}",
      "{{ ('a'*8000000)|list }}",
      "{{ ('a,'*4000000).split(',')|length }}",
      "{% set s = 'a'*8000000 %}{% for i in range(99999) %}{{ s|upper|length }}{% endfor %}",
      "{% set s = 'a'*1000000 %}{% for i in range(99999) %}{{ s in s }}{% endfor %}",
      "{% set s='a '*1000000 %}{% for i in range(99999) %}{{ s|wordcount }}{% endfor %}",
      "{% set s='X'*1000000 %}{% for i in range(99999) %}{{ s.isalpha() and s is upper }}{% endfor "
      "%}",
      "{% set s='a'*100000 %}{% for i in range(99999) %}{{ s.count('a') }}{% endfor %}",
      "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = [ns.s, ns.s] %}{% "
      "endfor "
      "%}{{ ns.s|tojson }}",
      "{% set ns = namespace(s=[1]) %}{% for i in range(101) %}{% set ns.s = [ns.s] %}{% endfor "
      "%}{{ "
      "ns.s|tojson }}",
      "{{ [1]|tojson(indent=10**9) }}",
      "{{ range(100000)|join('x'*1000) }}",
      "{{ ['x'*100000]*100000|join }}",
      "{{ '%*d' % (10**9, 5) }}",
      "{{ '{0:{1}}'.format('a', 999999999) }}",
      "{{ strftime_now('%Y'*10000000) }}",
      "{{ 'x'|center(10**9) }}",
      "{{ 'x'|indent(10**9) }}",
      "{{ ('x\\n'*100000)|indent(1000) }}",
      "{{ '%1000000000d' % 5 }}",
      "{{ '%.1000000000f' % 5.0 }}",
      "{{ '{:1000000000}'.format(5) }}",
      "{{ '{:.1000000000f}'.format(5.0) }}",
      "{{ '5'.zfill(10**12) }}",
      "{% set l = range(100000)|list %}{% for i in l %}{% if -1 in l %}{% endif %}{% endfor %}",
      "{% set l = range(100000)|list %}{% for i in l %}{% set q = l|sort %}{% endfor %}",
      "{% for i in range(99999) %}{{ loop.cycle(*range(100000)) }}{% endfor %}",
      "{% set ns = namespace(l='') %}{% for i in range(99999) %}{% set ns.l = ns.l ~ 'abcdefgh' "
      "%}{% endfor %}",
      "{% for m in messages %}{{ m.content|replace('', "
      "'xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxy') }}{% endfor %}",
      "{{ " + times("(", 50000) + "1" + times(")", 50000) + " }}",
      "{{ " + times("[", 100000) + " }}",
      "{{ " + times("-", 100000) + "1 }}",
      "{{ 1" + times("|abs", 100000) + " }}",
      "{{ a" + times(".b", 100000) + " }}",
      times("{% if 1 %}", 40000),
      times("{{ 1 if 1 else ", 20000),
      times("x", 600000),
  };
  return kAll;
}

bool is_refused(const std::string& source) {
  const auto chat = ChatTemplate::parse(source);
  if (!chat) return true;
  return !chat->render({{"user", std::string(400000, 'a'), ""}});
}

// The peak of a child process that runs this, in MiB.
template <typename F>
double peak_mib(F&& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  EXPECT_TRUE(WIFEXITED(status));
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

TEST(ChatBound, a_hostile_template_is_refused_within_two_seconds) {
  for (const std::string& source : hostile()) {
    const std::clock_t start = std::clock();
    EXPECT_TRUE(is_refused(source)) << source.substr(0, 100);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(took, test::kSanitized ? 60.0 : 2.0) << source.substr(0, 100);
  }
}

TEST(ChatBound, a_hostile_template_takes_no_more_than_64_mib) {
  if (test::kSanitized)
    GTEST_SKIP() << "skipped: sanitizers take memory of their own; run it in another build";
  const double nothing = peak_mib([] {});
  for (const std::string& source : hostile()) {
    EXPECT_LT(peak_mib([&] { is_refused(source); }) - nothing, 64.0) << source.substr(0, 100);
  }
}

TEST(ChatBound, a_hostile_template_needs_one_mib_of_stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{test::kSanitized ? 8 : 1} << 20);
  pthread_t thread;
  const auto run = [](void*) -> void* {
    for (const std::string& source : hostile()) is_refused(source);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace mummu
