/* See utf8.h. */
#include "support/utf8.h"

#include <stdbool.h>

int utf8_decode(const char *text, int length, uint32_t *code)
{
    unsigned char first = (unsigned char)text[0];
    int size = first < 0x80                    ? 1
               : first >= 0xf0 && first < 0xf5 ? 4
               : first >= 0xe0 && first < 0xf0 ? 3
               : first >= 0xc2 && first < 0xe0 ? 2
                                               : 0;
    if (size == 0 || size > length)
        return 0;
    *code = size == 1 ? first : first & (0x7fu >> size);
    for (int i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    bool overlong = (size == 3 && *code < 0x800) || (size == 4 && *code < 0x10000);
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return overlong || surrogate || *code > 0x10ffff ? 0 : size;
}

int utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    int size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(((0xf00u >> size) & 0xff) | code); /* as many leading one bits as bytes */
    return size;
}
