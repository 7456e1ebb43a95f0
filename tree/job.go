package tree

import "runtime"

// A job is one step of a flush: records that are hashed, on a second processor where there is
// one, and then applied.
type job struct {
	batch   Batch
	isB     []bool // for each item of batch: it will be a boundary
	effects []Effect

	refs []ref // the writes that become leaves

	got Gathered // the children of the nodes in batch
}

const (
	jobItems  = 128       // items of a job, about
	jobBytes  = 64 << 10  // bytes of a batch, about; a larger value is alone in its batch
	jobHashes = 128 << 10 // bytes of child hashes of a job
	jobsAhead = 3         // jobs under way at once
)

func (j *job) reset() {
	j.batch.Reset()
	j.isB = j.isB[:0]
}

// slots returns j.effects with room for every item of the batch.
func (j *job) slots() []Effect {
	if n := j.batch.Len(); cap(j.effects) < n {
		j.effects = make([]Effect, n+n/2)
	}
	return j.effects[:j.batch.Len()]
}

// A stage is one kind of work that a flush does, job by job.
type stage interface {
	// fill begins the next job. It reports whether another follows; a job without items ends
	// the stage too.
	fill(*job) (more bool, err error)
	// hash completes the job's batch. It runs beside fill and apply of other jobs, and touches
	// nothing but the job and what no stage changes.
	hash(*job)
	// apply writes the batch.
	apply(*job) error
}

// run takes a stage through all its jobs, in order. A single job is done in place; more are
// hashed by a goroutine that ends before run returns.
func run(s stage, jobs *[jobsAhead]job) error {
	more, err := s.fill(&jobs[0])
	if err != nil {
		return err
	}
	if !more || runtime.GOMAXPROCS(0) == 1 {
		return runInPlace(s, &jobs[0], more)
	}
	todo := make(chan *job, jobsAhead)
	done := make(chan *job, jobsAhead)
	go func() {
		defer close(done)
		for j := range todo {
			s.hash(j)
			done <- j
		}
	}()
	defer func() {
		close(todo)
		for range done { // the goroutine has ended when this loop has
		}
	}()
	todo <- &jobs[0]
	for filled, applied := 1, 0; applied < filled; {
		if more && filled-applied < jobsAhead {
			j := &jobs[filled%jobsAhead]
			if more, err = s.fill(j); err != nil {
				return err
			}
			todo <- j
			filled++
			continue
		}
		if err := s.apply(<-done); err != nil {
			return err
		}
		applied++
	}
	return nil
}

func runInPlace(s stage, j *job, more bool) error {
	for {
		s.hash(j)
		if err := s.apply(j); err != nil || !more {
			return err
		}
		var err error
		if more, err = s.fill(j); err != nil {
			return err
		}
	}
}
