// Package replication measures how two replicas of a tree become equal again: the bytes that
// finding their differences takes, the round trips, the processor time, the memory, and the time
// over a simulated link. It is what okra bench sync runs.
package replication
