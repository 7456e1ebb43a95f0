package lmdbenv

/*
#include <stdint.h>

// The address of a thread's own variable: no other live thread has the same.
static uintptr_t okra_thread(void) {
	static __thread char here;
	return (uintptr_t)&here;
}
*/
import "C"

// thread returns a number for the calling thread that no other live thread has.
func thread() uintptr { return uintptr(C.okra_thread()) }
