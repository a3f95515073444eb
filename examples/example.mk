# What the examples beside this file share: NAME.tir and NAME.sched become an object and a header, main.c calls it. SCHEDULE: the -D parameters; OWN_FLAGS:
# what main.c is compiled with.
# plain.c holds the same loops in C; gcc gets the flags with which it is fastest.
TIRC ?= tirc
RUNTIME ?= /usr/local/lib/libtirc_rt.a
INCLUDE ?= /usr/local/include
BUILD ?= .
ROUNDS ?= 21

run: $(BUILD)/$(NAME)
	$(BUILD)/$(NAME) $(ROUNDS)

$(BUILD)/$(NAME): main.c plain.c ../compare.h $(BUILD)/$(NAME).o $(wildcard $(RUNTIME))
	$(CC) -O3 -march=native -ffast-math -Wall -c -o $(BUILD)/plain.o plain.c
	$(CC) -O2 -Wall $(OWN_FLAGS) -I"$(INCLUDE)" -I$(BUILD) -I.. -o $@ main.c $(BUILD)/plain.o $(BUILD)/$(NAME).o "$(RUNTIME)" -fopenmp -lm

$(BUILD)/$(NAME).o: $(NAME).tir $(NAME).sched $(wildcard $(TIRC))
	@mkdir -p $(BUILD)
	"$(TIRC)" $(NAME).tir -s $(NAME).sched $(SCHEDULE) -o $@ -H $(BUILD)/$(NAME).h -MD

-include $(BUILD)/$(NAME).d

.PHONY: run
