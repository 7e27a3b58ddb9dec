#include "board.h"

#define TIMER_CONTROL (*(volatile uint32_t *)0x40000000)
#define TIMER_VALUE (*(volatile uint32_t *)0x40000004)
#define TIMER_RELOAD (*(volatile uint32_t *)0x40000008)
#define RESET_CONTROL (*(volatile uint32_t *)0xE000ED0C)

#define PAINT 0x5AA5C33Cu
#define PAINTED_WORDS 4096

extern uint32_t data_begin, data_end, bss_begin, bss_end, stack_end;
extern const uint32_t data_from;
int main(void);

/* Requests an operation of the emulator (Arm semihosting). */
static uint32_t request(uint32_t operation, uint32_t argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register uint32_t r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void print(const char *text)
{
    request(0x04, (uint32_t)text);
}

void print_number(uint32_t number, unsigned width)
{
    char text[40], *at = text + sizeof text - 1;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 && at > text);
    while (text + sizeof text - 1 - at < (int)width && at > text)
        *--at = ' ';
    print(at);
}

_Noreturn void board_exit(int status)
{
    /* SYS_EXIT_EXTENDED: ADP_Stopped_ApplicationExit, and the status. */
    uint32_t block[2] = {0x20026, (uint32_t)status};
    request(0x20, (uint32_t)block);
    for (;;) {
    }
}

_Noreturn void board_reset(void)
{
    RESET_CONTROL = 0x05FA0004;
    for (;;) {
    }
}

void timer_start(void)
{
    TIMER_RELOAD = UINT32_MAX;
    TIMER_VALUE = UINT32_MAX;
    TIMER_CONTROL = 1;
}

uint32_t timer_now(void)
{
    return ~TIMER_VALUE;
}

uint32_t timer_instructions(uint32_t ticks)
{
    /* A tick is 40 ns, an instruction 64. */
    return (uint32_t)((uint64_t)ticks * 5 / 8);
}

static uint32_t *painted_end;

__attribute__((noinline)) void stack_paint(void)
{
    uint32_t *stack;
    __asm__ volatile("mov %0, sp" : "=r"(stack));
    painted_end = stack;
    for (volatile uint32_t *at = stack - PAINTED_WORDS; at < stack - 8; at++)
        *at = PAINT;
}

__attribute__((noinline)) uint32_t stack_used(void)
{
    const volatile uint32_t *at = painted_end - PAINTED_WORDS;
    while (at < painted_end && *at == PAINT)
        at++;
    return (uint32_t)((const volatile char *)painted_end - (const volatile char *)at);
}

_Noreturn void reset(void)
{
    const uint32_t *from = &data_from;
    for (uint32_t *to = &data_begin; to < &data_end; to++)
        *to = *from++;
    for (uint32_t *to = &bss_begin; to < &bss_end; to++)
        *to = 0;
    timer_start();
    board_exit(main());
}

static _Noreturn void fault(void)
{
    print("fault\n");
    board_exit(3);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_end, (const void *)reset, (const void *)fault, (const void *)fault, (const void *)fault, (const void *)fault, (const void *)fault,
};
