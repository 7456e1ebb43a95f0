//go:build !race

package okra_test

// manyGoroutines is how many goroutines a test of many starts.
const manyGoroutines = 20000
