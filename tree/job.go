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

	stage  stage
	hashed chan struct{} // a token when the crew has hashed it
	own    bool          // the flushing goroutine has
}

const (
	jobItems  = 128      // items of a job, at most about
	jobLeast  = 8        // and at least, unless there are fewer: less is not worth handing over
	jobBytes  = 64 << 10 // bytes of a batch, about; a larger value is alone in its batch
	jobHashes = 64 << 10 // bytes of child hashes of a job
	jobsAhead = 3        // jobs under way at once
	crewLeast = 256      // changes worth a second goroutine
	spins     = 20000    // looks at a job before sleeping, some 10 µs
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

// share returns how many items a job should have when n are left: few enough for several jobs,
// so that one is hashed while another is filled or applied.
func share(n int) int { return max(jobLeast, min(jobItems, n/jobsAhead)) }

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

// A crew is a goroutine that hashes jobs beside the one that flushes, for the time of a flush.
type crew struct {
	todo  chan *job
	ended chan struct{}
}

// hire starts a crew, or returns nil where n changes are too few to share or there is one
// processor only.
func hire(n int) *crew {
	if n < crewLeast || runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	c := &crew{todo: make(chan *job, jobsAhead), ended: make(chan struct{})}
	go c.work()
	return c
}

// dismiss ends the crew's goroutine and waits for that.
func (c *crew) dismiss() {
	if c != nil {
		close(c.todo)
		<-c.ended
	}
}

// work hashes jobs until there are no more. It looks a while for the next before it sleeps,
// since to be woken takes longer than a job.
func (c *crew) work() {
	defer close(c.ended)
	for {
		for i := 0; i < spins && len(c.todo) == 0; i++ {
		}
		j, ok := <-c.todo
		if !ok {
			return
		}
		j.stage.hash(j)
		j.hashed <- struct{}{}
	}
}

func (c *crew) push(s stage, j *job) {
	if j.hashed == nil {
		j.hashed = make(chan struct{}, 1)
	}
	j.stage, j.own = s, false
	c.todo <- j
}

// wait returns when j is hashed. It hashes what the crew has not begun.
func (c *crew) wait(j *job) {
	for !j.own {
		select {
		case next := <-c.todo:
			next.stage.hash(next)
			next.own = true
		default:
			for i := 0; i < spins && len(j.hashed) == 0; i++ {
			}
			<-j.hashed
			return
		}
	}
}

// run takes a stage through all its jobs, in order, with the help of a crew if c is not nil.
func run(s stage, jobs *[jobsAhead]job, c *crew) error {
	more, err := s.fill(&jobs[0])
	if err != nil {
		return err
	}
	if !more || c == nil {
		return runInPlace(s, &jobs[0], more)
	}
	c.push(s, &jobs[0])
	filled, applied := 1, 0
	defer func() { // after an error: leave no job to the crew
		for ; applied < filled; applied++ {
			c.wait(&jobs[applied%jobsAhead])
		}
	}()
	for applied < filled {
		if more && filled-applied < jobsAhead {
			j := &jobs[filled%jobsAhead]
			if more, err = s.fill(j); err != nil {
				return err
			}
			c.push(s, j)
			filled++
			continue
		}
		j := &jobs[applied%jobsAhead]
		c.wait(j)
		applied++
		if err := s.apply(j); err != nil {
			return err
		}
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
