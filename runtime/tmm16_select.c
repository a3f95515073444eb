/* Which variants of tmm16 there are, which of them the processor can run, and which one tmm16 is. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_rt.h"
#include "tmm16_variants.h"

typedef struct {
    const char *name;
    tirc_tmm16_kernel kernel;
    int (*is_supported)(void);
} Variant;

#ifdef __x86_64__
static int has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

static int has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

static int always(void)
{
    return 1;
}

/* The fastest first. */
static const Variant variants[] = {
#ifdef __x86_64__
    {"avx512", tirc_tmm16_avx512, has_avx512},
    {"avx2", tirc_tmm16_avx2, has_avx2},
#endif
#ifdef __aarch64__
    {"neon", tirc_tmm16_neon, always},
#endif
    {"portable", tirc_tmm16_portable, always},
};

/* NULL as the name finds the fastest. */
static const Variant *find(const char *name)
{
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if ((!name || !strcmp(variants[i].name, name)) && variants[i].is_supported())
            return &variants[i];
    return NULL;
}

static const Variant *chosen(void)
{
    static const Variant *_Atomic cached;
    const Variant *variant = atomic_load(&cached), *none = NULL;
    if (variant)
        return variant;
    const char *wanted = getenv("TIRC_TMM16");
    int is_forced = wanted && *wanted;
    const Variant *forced = is_forced ? find(wanted) : NULL;
    variant = forced ? forced : find(NULL);
    /* of several threads that come here at once, one warns */
    if (atomic_compare_exchange_strong(&cached, &none, variant) && is_forced && !forced)
        fprintf(stderr, "tirc: warning: TIRC_TMM16=%s names no variant that can run here; using %s\n", wanted, variant->name);
    return variant;
}

tirc_tmm16_kernel tirc_tmm16_variant(const char *name)
{
    const Variant *variant = name ? find(name) : chosen();
    return variant ? variant->kernel : NULL;
}

int tirc_tmm16_is_fastest(void)
{
    return chosen() == find(NULL);
}

const char *tirc_tmm16_name(void)
{
    return chosen()->name;
}
