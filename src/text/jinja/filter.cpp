#include <algorithm>

#include "text/jinja/filter_table.h"

namespace mummu::jinja {

const BuiltinInfo* find_filter(std::string_view name) {
  for (const auto filters :
       {text_filters(), sequence_filters(), choice_filters(), value_filters()}) {
    const auto found = std::find_if(filters.begin(), filters.end(),
                                    [&](const BuiltinInfo& f) { return f.name == name; });
    if (found != filters.end()) return &*found;
  }
  return nullptr;
}

}  // namespace mummu::jinja
