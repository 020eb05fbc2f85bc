#pragma once

// The alphabet in which byte-level vocabularies are written: each byte has one printable character,
// so that any text of tokens is readable in a file. The space is written as U+0120. Constant data;
// any thread.
//   source   GPT-2's encoder.py, bytes_to_unicode

#include <cstdint>
#include <string>
#include <string_view>

namespace mummu {

// The character that stands for a byte.
char32_t byte_level_char(unsigned char byte);

// The byte that a character stands for, or -1.
int byte_level_byte(char32_t code);

// Appends text with each byte written as its character.
void append_byte_level(std::string& out, std::string_view bytes);

// Appends the bytes that characters stand for; false, and nothing appended, if one stands for none.
//   requires  text valid UTF-8
bool append_bytes_of(std::string& out, std::string_view text);

}  // namespace mummu
