/*
 * The functions of the emulated board: text, an exit status, a reset, a counter of instructions,
 * and the depth of the stack.
 */

#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void print(const char *text);
void print_number(uint32_t number, unsigned width);
_Noreturn void board_exit(int status);
_Noreturn void board_reset(void);

/* Ticks of the board's timer since the start. */
void timer_start(void);
uint32_t timer_now(void);

/* Returns the instructions in a number of ticks, if QEMU runs with `-icount shift=6`. */
uint32_t timer_instructions(uint32_t ticks);

/*
 * stack_paint fills the memory below the caller's stack. stack_used returns the number of bytes
 * used since.
 */
void stack_paint(void);
uint32_t stack_used(void);

#endif
