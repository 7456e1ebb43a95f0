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

	hashed chan struct{} // a token when another goroutine has hashed it
	own    bool          // this one has
}

const (
	jobItems  = 128      // items of a job, at most about
	jobLeast  = 8        // and at least, unless there are fewer: less is not worth handing over
	jobBytes  = 64 << 10 // bytes of a batch, about; a larger value is alone in its batch
	jobHashes = 64 << 10 // bytes of child hashes of a job
	jobsAhead = 3        // jobs under way at once
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

// run takes a stage through all its jobs, in order. A single job is done in place; more are
// hashed by a goroutine beside, which ends before run returns, and by this one when it would
// otherwise wait.
func run(s stage, jobs *[jobsAhead]job) error {
	more, err := s.fill(&jobs[0])
	if err != nil {
		return err
	}
	if !more || runtime.GOMAXPROCS(0) == 1 {
		return runInPlace(s, &jobs[0], more)
	}
	q := queue{stage: s, todo: make(chan *job, jobsAhead), ended: make(chan struct{})}
	go q.work()
	defer func() {
		close(q.todo)
		<-q.ended
	}()
	q.push(&jobs[0])
	for filled, applied := 1, 0; applied < filled; {
		if more && filled-applied < jobsAhead {
			j := &jobs[filled%jobsAhead]
			if more, err = s.fill(j); err != nil {
				return err
			}
			q.push(j)
			filled++
			continue
		}
		j := &jobs[applied%jobsAhead]
		q.wait(j)
		if err := s.apply(j); err != nil {
			return err
		}
		applied++
	}
	return nil
}

// A queue holds the jobs that wait to be hashed.
type queue struct {
	stage stage
	todo  chan *job
	ended chan struct{}
}

func (q *queue) push(j *job) {
	if j.hashed == nil {
		j.hashed = make(chan struct{}, 1)
	}
	j.own = false
	q.todo <- j
}

// work hashes jobs until there are no more.
func (q *queue) work() {
	for j := range q.todo {
		q.stage.hash(j)
		j.hashed <- struct{}{}
	}
	close(q.ended)
}

// wait returns when j is hashed. It hashes what nobody has begun, and looks for the rest a
// while before it sleeps: to wake a goroutine that has its thread for itself takes longer.
func (q *queue) wait(j *job) {
	for !j.own {
		select {
		case next := <-q.todo:
			q.stage.hash(next)
			next.own = true
		default:
			for i := 0; i < spins && len(j.hashed) == 0; i++ {
			}
			<-j.hashed
			return
		}
	}
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
