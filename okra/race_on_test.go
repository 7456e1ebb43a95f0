//go:build race

package okra_test

// The race detector takes 8128 goroutines at most.
const manyGoroutines = 6000
