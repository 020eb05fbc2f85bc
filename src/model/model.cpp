#include "mummu/model.h"

#include "base/edge.h"
#include "base/fail.h"
#include "model/load.h"
#include "model/model_impl.h"

namespace mummu {

namespace {

Result<Model> load_all(const std::string& path, const Device& device, const LoadOptions& options) {
  MUMMU_TRY(auto load, ModelLoad::plan(path, device, options));
  if (!load.info().generates)
    return fail(Error::unsupported,
                "{}: this {} checkpoint makes vectors of texts (Embedder) and writes none: it has "
                "no head",
                path, load.info().architecture);
  return load.run(path, options);
}

}  // namespace

Result<Model> Model::load(const std::string& path, const Device& device, LoadOptions options) {
  return at_edge([&] { return load_all(path, device, options); });
}

Result<ModelInfo> Model::inspect(const std::string& path, const Device& device,
                                 LoadOptions options) {
  return at_edge([&]() -> Result<ModelInfo> {
    MUMMU_TRY(const auto load, ModelLoad::plan(path, device, options));
    return load.info();
  });
}

Model::Model(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelInfo& Model::info() const { return impl_->info; }
const Tokenizer& Model::tokenizer() const { return impl_->tokenizer; }
const ChatTemplate* Model::chat_template() const {
  return impl_->chat_template ? &*impl_->chat_template : nullptr;
}
DeviceInfo Model::device() const { return impl_->ops->device_info(); }

}  // namespace mummu
