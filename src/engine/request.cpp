#include "mummu/request.h"

#include <algorithm>

#include "base/edge.h"
#include "base/fail.h"
#include "engine/check_request.h"
#include "model/model_impl.h"

namespace mummu {

std::string_view finish_name(Finish finish) {
  constexpr std::string_view kNames[] = {"none", "stop", "length", "context", "cancelled", "error"};
  return kNames[static_cast<int>(finish)];
}

Result<Request> chat(const Model& model, const std::vector<Message>& messages,
                     RequestOptions options, const ChatOptions& chat_options) {
  return at_edge([&]() -> Result<Request> {
    const ChatTemplate* chat_template = model.chat_template();
    if (!chat_template) return fail(Error::unsupported, "the checkpoint has no chat template");
    MUMMU_TRY(const Rendered rendered, chat_template->render(messages, chat_options));
    MUMMU_TRY(auto ids, model.tokenizer().encode(rendered));
    return complete(model, std::move(ids), std::move(options));
  });
}

Result<Request> complete(const Model& model, std::string_view text, RequestOptions options) {
  return at_edge([&]() -> Result<Request> {
    if (text.empty()) return fail(Error::invalid, "the prompt is empty");
    MUMMU_TRY(auto ids, model.tokenizer().encode(text));
    return complete(model, std::move(ids), std::move(options));
  });
}

Result<Request> complete(const Model& model, std::vector<TokenId> ids, RequestOptions options) {
  return Request{&model.impl(), std::move(ids), std::move(options)};
}

Result<void> check(const Request& request) {
  return at_edge([&]() -> Result<void> {
    if (!request.model) return fail(Error::invalid, "the request was made for no model");
    const Model::Impl& model = *request.model;
    return check_request(request, std::min(model.decoder.vocab(), model.tokenizer.vocab()));
  });
}

}  // namespace mummu
