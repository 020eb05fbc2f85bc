#pragma once

// What this library is: its own version, and the version of the arithmetic contract. Two builds
// with the same contract give the same bits for the same weights, prompt, request and seed.

namespace mummu {

inline constexpr char kVersion[] = "0.1.0";
inline constexpr char kContract[] = "cpu-1";

}  // namespace mummu
