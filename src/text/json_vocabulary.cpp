#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/control_token.h"
#include "text/tokenizer_build.h"
#include "text/tokenizer_json.h"

namespace mummu::tokenizer_json {
namespace {

// The largest known vocabulary has 262,144 tokens.
constexpr int64_t kMostTokens = 1 << 22;

// Texts by id while they are collected.
class Collector {
 public:
  explicit Collector(std::string where) : where_(std::move(where)) {}

  Result<void> add(std::string_view text, int64_t id) {
    if (id < 0 || id >= kMostTokens)
      return fail(Error::corrupt, "{}: token \"{}\" has id {}", where_, text, id);
    const auto i = static_cast<size_t>(id);
    if (i >= texts_.size()) texts_.resize(i + 1);
    if (!texts_[i].empty() && texts_[i] != text)
      return fail(Error::corrupt, "{}: id {} is both \"{}\" and \"{}\"", where_, id, texts_[i],
                  text);
    texts_[i] = text;
    return {};
  }
  size_t size() const { return texts_.size(); }
  void fill(TextTable& table) const {
    for (const std::string& text : texts_) table.add(text);
  }

 private:
  std::string where_;
  std::vector<std::string> texts_;
};

// {"text": id, …}, or Unigram's [["text", score], …]
Result<void> read_model_texts(const JsonObject& model, Collector& texts) {
  const nlohmann::json* vocab = model.find("vocab");
  if (vocab == nullptr || !(vocab->is_object() || vocab->is_array()))
    return fail(Error::corrupt, "{}: vocab: expected an object or an array", model.where());
  int64_t next = 0;
  for (const auto& [key, value] : vocab->items()) {
    if (vocab->is_object()) {
      if (!value.is_number_integer())
        return fail(Error::corrupt, "{}: vocab: the id of \"{}\" is not an integer", model.where(),
                    key);
      MUMMU_TRY(texts.add(key, value.get<int64_t>()));
      continue;
    }
    if (!value.is_array() || value.size() != 2 || !value[0].is_string() || !value[1].is_number())
      return fail(Error::corrupt, "{}: vocab[{}]: expected a text and a score", model.where(),
                  next);
    MUMMU_TRY(texts.add(value[0].get_ref<const std::string&>(), next++));
  }
  return {};
}

Result<AddedToken> read_added(const JsonObject& object, const std::vector<std::string>& control) {
  AddedToken token;
  MUMMU_TRY(const int64_t id, object.get_int("id"));
  if (id < 0 || id >= kMostTokens) return fail(Error::corrupt, "{}: id is {}", object.where(), id);
  token.id = static_cast<TokenId>(id);
  MUMMU_TRY(token.text, object.get_string("content"));
  MUMMU_TRY(token.special, object.get_bool("special"));
  MUMMU_TRY(token.single_word, object.get_bool("single_word"));
  MUMMU_TRY(token.lstrip, object.get_bool("lstrip"));
  MUMMU_TRY(token.rstrip, object.get_bool("rstrip"));
  MUMMU_TRY(token.normalized, object.get_bool("normalized"));
  const bool named = std::ranges::find(control, token.text) != control.end();
  token.control = token.special || named || looks_like_control(token.text);
  return token;
}

}  // namespace

Result<std::vector<bool>> read_vocabulary(const JsonObject& root,
                                          const std::vector<std::string>& control,
                                          Tokenizer::Impl& impl) {
  MUMMU_TRY(const auto model, root.get_object("model"));
  Collector texts(root.where());
  MUMMU_TRY(read_model_texts(model, texts));
  const size_t in_model = texts.size();
  if (root.has("added_tokens")) {
    MUMMU_TRY(const auto added, objects(root, "added_tokens"));
    for (const JsonObject& object : added) {
      MUMMU_TRY(auto token, read_added(object, control));
      MUMMU_TRY(texts.add(token.text, token.id));
      impl.added.push_back(std::move(token));
    }
  }
  texts.fill(impl.texts);
  MUMMU_TRY(index_texts(impl, root.where()));
  MUMMU_TRY(finish_added(impl, root.where()));
  std::vector<bool> hidden = hidden_from_model(impl);
  std::fill(hidden.begin() + static_cast<ptrdiff_t>(in_model), hidden.end(), true);
  return hidden;
}

}  // namespace mummu::tokenizer_json
