// Package suite runs the suites of okra bench: sets of measured cells, each done by several sides
// on equal terms.
//
// A [Suite] makes [Cell]s from [Options]. A cell is one figure, such as the time of a durable
// write at 400 rows, with its [Side]s, of which the first is judged against each other one. [Run]
// measures the cells one after the other: so many repetitions, in each of which all sides run in
// turn, each in a fresh folder. Every part of a repetition runs in a process of its own, so that
// its peak memory is its own, and what a part leaves to the next goes through the file system:
//
//	Prepare   untimed: fills a store, say
//	Run       the measured work
//	Check     untimed: reads what Run has left
//	Helpers   processes that the others start and may kill
//
// These processes are the running program again: its main function, and TestMain of tests that
// run suites, must call [Serve] with all suites before anything else. They end when the process
// that started them ends, however it ends.
//
// No figure is reported for work that was not done. A cell fails unless each side reports the
// number of operations that the cell promises, Check finds the promised number of entries, and
// all sides agree on the sums of what they read and left.
//
// A [Result] is a finished cell with all that was measured. [Append] and [Read] keep results in a
// file, a line for each; [Tables] makes tables of them.
//
// A new suite is a package that returns a Suite, is added to the list in the command, and has a
// test that runs it on tiny sizes.
package suite
