/* Opening a target machine. Only the back end that is asked for is initialized, which keeps the start of the process short. */
#include "codegen/llvm/llvm_target.h"

#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "codegen/llvm/llvm_features.h"
#include "codegen/llvm/llvm_registers.h"
#include "codegen/llvm/llvm_trial.h"

/* The build says which back ends LLVM is linked with. */
#define BACK_END(name, llvm_name)                \
    static void initialize_##name(void)          \
    {                                            \
        LLVMInitialize##llvm_name##TargetInfo(); \
        LLVMInitialize##llvm_name##Target();     \
        LLVMInitialize##llvm_name##TargetMC();   \
        LLVMInitialize##llvm_name##AsmParser();  \
        LLVMInitialize##llvm_name##AsmPrinter(); \
    }
#ifdef TIRC_TARGET_x86
BACK_END(x86, X86)
#else
#define initialize_x86 NULL
#endif
#ifdef TIRC_TARGET_aarch64
BACK_END(aarch64, AArch64)
#else
#define initialize_aarch64 NULL
#endif
#ifdef TIRC_TARGET_riscv
BACK_END(riscv, RISCV)
#else
#define initialize_riscv NULL
#endif

/* BASE_FEATURES: what every Linux system of the architecture has although LLVM's generic processor lacks it. */
typedef struct {
    const char *alias, *arch, *base_features;
    bool extends_int32;
    void (*initialize)(void); /* NULL: this build has no such back end */
} ArchInfo;

static const ArchInfo architectures[] = {
    {"x86_64", "x86_64", "", false, initialize_x86},          {"amd64", "x86_64", "", false, initialize_x86},
    {"aarch64", "aarch64", "", false, initialize_aarch64},    {"arm64", "aarch64", "", false, initialize_aarch64},
    {"riscv64", "riscv64", "+m,+a,+f,+d,+c", true, initialize_riscv},
};
enum { ARCH_COUNT = sizeof architectures / sizeof *architectures };

static const ArchInfo *find_arch(const char *triple)
{
    size_t length = strcspn(triple, "-");
    for (int i = 0; i < ARCH_COUNT; i++)
        if (strlen(architectures[i].alias) == length && !strncmp(architectures[i].alias, triple, length))
            return &architectures[i];
    return NULL;
}

/* Copies a string that LLVM made into the arena. */
static const char *take_string(Context *ctx, char *text)
{
    const char *copy = arena_strndup(ctx->arena, text, strlen(text));
    LLVMDisposeMessage(text);
    return copy;
}

static const char *join_features(Context *ctx, const char *first, const char *second)
{
    if (!first || !*first)
        return second ? second : "";
    return second && *second ? arena_printf(ctx->arena, "%s,%s", first, second) : first;
}

/* FEATURES with what goes without saying: LLVM gives AVX-512 its registers of 512 bits only where it also chooses the processor, and cannot
   select some instructions for one that has neither these nor AVX512VL. */
static const char *complete_features(Context *ctx, const char *features)
{
    bool wide = features && strstr(features, "+avx512") && !strstr(features, "evex512");
    return wide ? join_features(ctx, features, "+evex512") : features;
}

/* Processor and features: the host's unless a target or a processor is named. */
static void choose_cpu(Context *ctx, const CodegenOptions *options, const ArchInfo *arch, LlvmTarget *target)
{
    bool native = options->cpu ? !strcmp(options->cpu, "native") : !options->target;
    if (native) {
        target->cpu = take_string(ctx, LLVMGetHostCPUName());
        target->features = join_features(ctx, take_string(ctx, LLVMGetHostCPUFeatures()), complete_features(ctx, options->features));
    } else {
        target->cpu = options->cpu ? options->cpu : "generic";
        target->features = join_features(ctx, arch->base_features, complete_features(ctx, options->features));
    }
}

static LLVMTargetMachineRef create_machine(const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault,
                                                 LLVMCodeGenLevelAggressive};
    LLVMRelocMode relocation = options->pic ? LLVMRelocPIC : LLVMRelocStatic;
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(llvm_target, target->triple, target->cpu, target->features,
                                                           levels[options->opt_level & 3], relocation, LLVMCodeModelDefault);
    /* What LLVM uses for AArch64 at -O0 does not end on vectors of odd lengths. */
    LLVMSetTargetMachineGlobalISel(machine, false);
    return machine;
}

typedef struct {
    const LlvmTarget *target;
    LLVMTargetRef llvm_target;
    const CodegenOptions *options;
} Probe;

/* Compiles an empty function, so that LLVM says everything that it has against the processor: it warns and goes on, or aborts. */
static CodegenBytes compile_nothing(void *data)
{
    const Probe *probe = data;
    LLVMTargetMachineRef machine = create_machine(probe->target, probe->llvm_target, probe->options);
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("probe", llvm);
    LLVMSetTarget(module, probe->target->triple);
    LLVMValueRef function = LLVMAddFunction(module, "probe", LLVMFunctionType(LLVMVoidTypeInContext(llvm), NULL, 0, false));
    llvm_target_set_function(probe->target, function);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(llvm, function, ""));
    LLVMBuildRetVoid(builder);
    char *message;
    LLVMMemoryBufferRef bytes;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &bytes))
        fprintf(stderr, "%s\n", message);
    return (CodegenBytes){0};
}

/* False after a diagnostic when LLVM objects to the processor or the features that the user named. */
static bool check_cpu(Context *ctx, const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    if (!options->features && (!options->cpu || !strcmp(options->cpu, "generic") || !strcmp(options->cpu, "native")))
        return true;
    Probe probe = {target, llvm_target, options};
    const char *text = llvm_trial(ctx, compile_nothing, &probe, NULL);
    if (!*text)
        return true;
    const char *aside = strstr(text, " (ignoring");
    diag_error(ctx, span_none(), "%.*s: %s", (int)(aside ? (size_t)(aside - text) : strlen(text)), text, target->triple);
    return false;
}

static bool check_triple(Context *ctx, const char *triple, const ArchInfo **arch, LLVMTargetRef *llvm_target)
{
    *arch = find_arch(triple);
    if (!*arch) {
        diag_error(ctx, span_none(), "target '%s' is not supported: tirc compiles for x86_64, aarch64 and riscv64", triple);
        return false;
    }
    if (!(*arch)->initialize) {
        diag_error(ctx, span_none(), "target '%s': this tirc was built without the back end of %s (see TARGETS in its Makefile)", triple,
                   (*arch)->arch);
        return false;
    }
    (*arch)->initialize();
    char *message;
    if (LLVMGetTargetFromTriple(triple, llvm_target, &message)) {
        diag_error(ctx, span_none(), "target '%s' is not supported: %s", triple, take_string(ctx, message));
        return false;
    }
    return true;
}

bool llvm_target_initialize_host(Context *ctx)
{
    const ArchInfo *arch;
    LLVMTargetRef llvm_target;
    return check_triple(ctx, take_string(ctx, LLVMGetDefaultTargetTriple()), &arch, &llvm_target);
}

static void close_target(LlvmTarget *target)
{
    LLVMDisposeTargetMachine(target->machine);
    LLVMDisposeMessage(target->data_layout);
}

static bool open_target(Context *ctx, const CodegenOptions *options, LlvmTarget *target)
{
    const ArchInfo *arch;
    LLVMTargetRef llvm_target;
    *target = (LlvmTarget){0};
    target->triple = take_string(ctx, options->target ? LLVMNormalizeTargetTriple(options->target) : LLVMGetDefaultTargetTriple());
    if (!check_triple(ctx, target->triple, &arch, &llvm_target))
        return false;
    target->arch = arch->arch;
    target->extends_int32 = arch->extends_int32;
    choose_cpu(ctx, options, arch, target);
    if (!check_cpu(ctx, target, llvm_target, options))
        return false;
    target->machine = create_machine(target, llvm_target, options);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target->machine);
    target->data_layout = LLVMCopyStringRepOfTargetData(layout);
    unsigned pointer_size = LLVMPointerSize(layout);
    LLVMDisposeTargetData(layout);
    target->found = options->cpu || options->target || options->features ? llvm_probe_features(ctx, target) : "";
    target->vector_bytes = llvm_vector_bytes(target);
    if (pointer_size == 8)
        return true;
    diag_error(ctx, span_none(), "target '%s' is not supported: its pointers have %u bits", target->triple, pointer_size * 8);
    close_target(target);
    return false;
}

/* The target opened last, and what of the options chose it. */
typedef struct {
    LlvmTarget target;
    const char *triple, *cpu, *features; /* NULL: not named */
    int opt_level;
    bool pic;
} KeptTarget;

static bool same_name(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_kept(const KeptTarget *kept, const CodegenOptions *options)
{
    return kept && same_name(kept->triple, options->target) && same_name(kept->cpu, options->cpu) && same_name(kept->features, options->features) &&
           kept->opt_level == options->opt_level && kept->pic == options->pic;
}

static void release_target(void *handle)
{
    close_target(&((KeptTarget *)handle)->target);
}

static const char *keep_name(Context *ctx, const char *name)
{
    return name ? arena_strndup(ctx->base_arena, name, strlen(name)) : NULL;
}

static bool keep_target(Context *ctx, const CodegenOptions *options)
{
    Arena *arena = ctx->arena;
    LlvmTarget target;
    ctx->arena = ctx->base_arena;
    bool opened = open_target(ctx, options, &target);
    ctx->arena = arena;
    if (!opened)
        return false;
    if (ctx->target.handle)
        release_target(ctx->target.handle);
    KeptTarget kept = {target, keep_name(ctx, options->target), keep_name(ctx, options->cpu), keep_name(ctx, options->features), options->opt_level,
                       options->pic};
    ctx->target = (Resource){arena_copy(ctx->base_arena, &kept, sizeof kept), release_target};
    return true;
}

bool llvm_target_open(Context *ctx, const CodegenOptions *options, LlvmTarget *target)
{
    if (!is_kept(ctx->target.handle, options) && !keep_target(ctx, options))
        return false;
    *target = ((KeptTarget *)ctx->target.handle)->target;
    return true;
}

/* How FEATURES mention NAME last: '+', '-', or 0 for not at all. */
static char feature_sign(const char *features, const char *name)
{
    char sign = 0;
    size_t length = strlen(name);
    for (const char *at = features; at && *at; at = strchr(at, ','), at += at != NULL)
        if (!strncmp(at + 1, name, length) && (at[1 + length] == ',' || !at[1 + length]))
            sign = *at;
    return sign;
}

/* The first feature that is known to be used by code for TARGET and that this machine lacks; NULL: none. */
static const char *lacking_feature(Context *ctx, const LlvmTarget *target)
{
    const char *host = take_string(ctx, LLVMGetHostCPUFeatures());
    char *rest, *found = arena_strndup(ctx->arena, target->found, strlen(target->found));
    for (char *feature = strtok_r(found, ",", &rest); feature; feature = strtok_r(NULL, ",", &rest))
        if (*feature == '+' && feature_sign(host, feature + 1) == '-')
            return feature + 1;
    return NULL;
}

bool llvm_target_runs_here(Context *ctx, const CodegenOptions *options)
{
    LlvmTarget target;
    if (!options->target && !options->cpu && !options->features)
        return true;
    if (!llvm_target_open(ctx, options, &target))
        return false;
    const ArchInfo *own = find_arch(take_string(ctx, LLVMGetDefaultTargetTriple()));
    bool same = own && !strcmp(own->arch, target.arch);
    const char *lacking = same ? lacking_feature(ctx, &target) : NULL;
    if (!same)
        diag_error(ctx, span_none(), "code for %s cannot run on this machine%s%s; --interpret runs the program", target.triple, own ? ", which is " : "",
                   own ? own->arch : "");
    else if (lacking)
        diag_error(ctx, span_none(), "code for '%s' cannot run on this machine, which lacks %s; --interpret runs the program", target.cpu, lacking);
    return same && !lacking;
}

char llvm_target_sign(const LlvmTarget *target, const char *feature)
{
    char found = feature_sign(target->found, feature);
    return found ? found : feature_sign(target->features, feature);
}

void llvm_target_set_module(const LlvmTarget *target, LLVMModuleRef module)
{
    LLVMSetTarget(module, target->triple);
    LLVMSetDataLayout(module, target->data_layout);
}

void llvm_target_set_function(const LlvmTarget *target, LLVMValueRef function)
{
    LLVMAddTargetDependentFunctionAttr(function, "target-cpu", target->cpu);
    if (*target->features)
        LLVMAddTargetDependentFunctionAttr(function, "target-features", target->features);
}
