/* Opening a target machine. Only the back end that is asked for is initialized, which keeps the start of the process short. */
#include "codegen/llvm_target.h"

#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/bug.h"
#include "support/strbuf.h"

static void initialize_x86(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmParser();
    LLVMInitializeX86AsmPrinter();
}

static void initialize_aarch64(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeAArch64AsmPrinter();
}

static void initialize_riscv(void)
{
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTarget();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVAsmParser();
    LLVMInitializeRISCVAsmPrinter();
}

/* BASE_FEATURES: what every Linux system of the architecture has although LLVM's generic processor lacks it. */
typedef struct {
    const char *alias, *arch, *base_features;
    bool extends_int32;
    void (*initialize)(void);
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

/* Processor and features: the host's unless a target or a processor is named. */
static void choose_cpu(Context *ctx, const CodegenOptions *options, const ArchInfo *arch, LlvmTarget *target)
{
    bool native = options->cpu ? !strcmp(options->cpu, "native") : !options->target;
    if (native) {
        target->cpu = take_string(ctx, LLVMGetHostCPUName());
        target->features = join_features(ctx, take_string(ctx, LLVMGetHostCPUFeatures()), options->features);
    } else {
        target->cpu = options->cpu ? options->cpu : "generic";
        target->features = join_features(ctx, arch->base_features, options->features);
    }
}

static LLVMTargetMachineRef create_machine(const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault, LLVMCodeGenLevelAggressive};
    LLVMRelocMode relocation = options->pic ? LLVMRelocPIC : LLVMRelocStatic;
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(llvm_target, target->triple, target->cpu, target->features, levels[options->opt_level & 3],
                                                           relocation, LLVMCodeModelDefault);
    /* What LLVM uses for AArch64 at -O0 does not end on vectors of odd lengths. */
    LLVMSetTargetMachineGlobalISel(machine, false);
    return machine;
}

/* Compiles an empty function, so that LLVM says everything that it has against the processor. */
static void compile_nothing(const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    LlvmTarget probe = *target;
    probe.machine = create_machine(target, llvm_target, options);
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("probe", llvm);
    LLVMSetTarget(module, probe.triple);
    LLVMValueRef function = LLVMAddFunction(module, "probe", LLVMFunctionType(LLVMVoidTypeInContext(llvm), NULL, 0, false));
    llvm_target_set_function(&probe, function);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(llvm, function, ""));
    LLVMBuildRetVoid(builder);
    char *message;
    LLVMMemoryBufferRef bytes;
    if (LLVMTargetMachineEmitToMemoryBuffer(probe.machine, module, LLVMObjectFile, &message, &bytes))
        fprintf(stderr, "%s\n", message);
}

/* LLVM-C cannot be asked whether it knows a processor: LLVM prints a warning and goes on, or aborts. So a child process tries, and what it prints is the
   answer. Returns that text, "" when there is no objection. */
static const char *probe_objections(Context *ctx, const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    int ends[2];
    if (pipe(ends))
        return "";
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        compile_nothing(target, llvm_target, options);
        _exit(EXIT_OK);
    }
    close(ends[1]);
    StrBuf text = {.arena = ctx->arena};
    char chunk[512];
    for (ssize_t got; (got = read(ends[0], chunk, sizeof chunk)) > 0;)
        strbuf_add_bytes(&text, chunk, (size_t)got);
    close(ends[0]);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && status && !text.length)
        return "the back end fails on this processor";
    return strbuf_text(&text);
}

/* False after a diagnostic when LLVM objects to the processor or the features that the user named. */
static bool check_cpu(Context *ctx, const LlvmTarget *target, LLVMTargetRef llvm_target, const CodegenOptions *options)
{
    if (!options->features && (!options->cpu || !strcmp(options->cpu, "generic") || !strcmp(options->cpu, "native")))
        return true;
    const char *text = probe_objections(ctx, target, llvm_target, options);
    if (!*text)
        return true;
    if (!strncmp(text, "LLVM ERROR: ", strlen("LLVM ERROR: ")))
        text += strlen("LLVM ERROR: ");
    size_t length = strcspn(text, "\n");
    const char *aside = strstr(text, " (ignoring");
    if (aside && (size_t)(aside - text) < length)
        length = (size_t)(aside - text);
    diag_error(ctx, span_none(), "%.*s: %s", (int)length, text, target->triple);
    return false;
}

static bool check_triple(Context *ctx, const char *triple, const ArchInfo **arch, LLVMTargetRef *llvm_target)
{
    *arch = find_arch(triple);
    if (!*arch) {
        diag_error(ctx, span_none(), "target '%s' is not supported: tirc compiles for x86_64, aarch64 and riscv64", triple);
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

bool llvm_target_open(Context *ctx, const CodegenOptions *options, LlvmTarget *target)
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
    if (pointer_size == 8)
        return true;
    diag_error(ctx, span_none(), "target '%s' is not supported: its pointers have %u bits", target->triple, pointer_size * 8);
    llvm_target_close(target);
    return false;
}

void llvm_target_close(LlvmTarget *target)
{
    LLVMDisposeTargetMachine(target->machine);
    LLVMDisposeMessage(target->data_layout);
    *target = (LlvmTarget){0};
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
