/* UTF-8: bytes to characters and back. */
#ifndef TIRC_SUPPORT_UTF8_H
#define TIRC_SUPPORT_UTF8_H

#include <stdint.h>

/* Decodes the character at TEXT, of which LENGTH bytes are there, into *CODE; its length, or 0 when the bytes are not UTF-8: overlong forms,
   halves of surrogate pairs and what lies above U+10FFFF are not. */
int utf8_decode(const char *text, int length, uint32_t *code);
/* Writes CODE to OUT; its length. */
int utf8_encode(uint32_t code, char out[4]);

#endif
