package tree

import (
	"runtime"
	"slices"
)

// A job is one step of a flush: records that are hashed, on a second processor where there is
// one, and then applied.
type job struct {
	batch   Batch
	isB     []bool // for each item of batch: it will be a boundary
	effects []Effect
	olds    []byte // hashes of what it replaced

	refs   []ref  // the writes that become leaves
	joined []byte // what their hashes are taken of

	got  Gathered // the children of the nodes in batch
	runs int      // the most that got had
	ends []int    // where those of each end
	sums []byte   // their hashes

	size   int // bytes to hash, about
	stage  stage
	hashed chan struct{} // a token when the other goroutine has hashed it
	done   bool          // the flushing goroutine has
}

const (
	jobItems  = 128      // items of a job, at most about
	jobLeast  = 8        // and at least, unless there are fewer: less is not worth handing over
	jobBytes  = 64 << 10 // bytes of a batch, about; a larger value is alone in its batch
	jobHashes = 64 << 10 // bytes of child hashes of a job
	jobsAhead = 3        // jobs under way at once
	hashLeast = 64       // bytes, one block: to hash fewer takes as long
	spins     = 5000     // looks at a channel before sleeping, some 20 µs
)

// aloneMost is the bytes to hash before a second goroutine joins: tens of thousands of writes.
// Smaller flushes would gain little where a processor is free, since nodes are hashed many at
// once, and lose much where none is, since one goroutine then waits for the other to get its
// turn. It is a variable for tests.
var aloneMost = 4 << 20

func (j *job) reset() {
	j.batch.Reset()
	j.isB = j.isB[:0]
	j.runs = max(j.runs, len(j.got.Runs))
	j.size = 0
}

// write applies a batch to t. It returns what each item found, and the hashes of that if they
// are wanted; both are valid until the next write.
func (j *job) write(t *Tree, b *Batch, hashes bool) (effects []Effect, olds []byte, err error) {
	n := b.Len()
	effects = slices.Grow(j.effects[:0], n)[:n]
	if hashes {
		olds = slices.Grow(j.olds[:0], n*t.rule.Len)[:n*t.rule.Len]
		j.olds = olds
	}
	j.effects = effects
	return effects, olds, t.s.Apply(b, t.rule, effects, olds)
}

// apply writes the batch of nodes and lists in out what it changed. The cache is to remember them
// if remember says so.
func (j *job) apply(t *Tree, out *changes, remember bool) error {
	effects, olds, err := j.write(t, &j.batch, remember)
	if err != nil {
		return err
	}
	j.report(effects, olds, out)
	if remember {
		j.remember(t, effects, olds)
	}
	return nil
}

// remember enters the nodes of j in the cache. Where olds is not nil, the nodes with these hashes
// were in their place.
func (j *job) remember(t *Tree, effects []Effect, olds []byte) {
	k, begin := t.rule.Len, 0
	for i, run := range j.got.Runs {
		var old []byte
		if olds != nil && effects[i]&Existed != 0 {
			old = olds[i*k:][:k]
		}
		t.cache.put(old, j.sums[i*k:][:k], j.got.Hashes[begin:run.End])
		begin = run.End
	}
}

// report adds to out what the batch of j changed.
func (j *job) report(effects []Effect, olds []byte, out *changes) {
	for i, at := 0, 0; ; i++ {
		item, next, ok := j.batch.Next(at)
		if !ok {
			return
		}
		at = next
		if effects[i]&Unchanged != 0 {
			continue
		}
		key := item.Key[1:]
		anchor := len(key) == 0
		ch := change{
			key:   key,
			was:   anchor || effects[i]&WasBoundary != 0,
			is:    anchor || j.isB[i],
			gone:  item.Delete,
			added: effects[i]&Existed == 0,
		}
		if k := out.k; k > 0 {
			ch.old = olds[i*k:][:k]
			if !ch.gone {
				ch.hash = item.Value[:k]
			}
		}
		out.add(ch)
	}
}

// A stage is one kind of work that a flush does, job by job.
type stage interface {
	// fill begins the next job, which may have no items, and reports whether another follows.
	fill(*job) (more bool, err error)
	// hash completes the job's batch. It runs beside fill and apply of other jobs, and touches
	// nothing but the job and what no stage changes.
	hash(*job)
	// apply writes the batch.
	apply(*job) error
}

// A crew hashes the jobs of a flush: the flushing goroutine alone at first, and with another
// beside it once there is enough to hash to be worth that. The zero crew is ready.
type crew struct {
	size  int       // bytes to hash so far
	todo  chan *job // for the other goroutine, which a nil job ends; no channel while alone
	ended chan struct{}
}

// dismiss ends the other goroutine, if there is one, and waits for its end.
func (c *crew) dismiss() {
	if c.todo != nil {
		c.todo <- nil
		take(c.ended)
	}
}

// take receives from c. It looks a while before it sleeps, since to be woken takes longer than a
// job.
func take[T any](c chan T) T {
	for i := 0; i < spins && len(c) == 0; i++ {
	}
	return <-c
}

// work hashes jobs until it is told to end.
func (c *crew) work() {
	defer func() { c.ended <- struct{}{} }()
	for {
		j := take(c.todo)
		if j == nil {
			return
		}
		j.stage.hash(j)
		j.hashed <- struct{}{}
	}
}

// share returns how many items a job should have when n are left: with another goroutine few
// enough for several jobs, so that one is hashed while another is filled or applied.
func (c *crew) share(n int) int {
	if c.todo != nil {
		n = max(jobLeast, n/jobsAhead)
	}
	return min(jobItems, n)
}

// ahead returns how many jobs may be filled before one is applied.
func (c *crew) ahead() int {
	if c.todo == nil {
		return 1
	}
	return jobsAhead
}

// push hands over a job that is filled, and says whether more follow in its stage: then as much
// as two like it, by what share makes of a stage.
func (c *crew) push(s stage, j *job, more bool) {
	j.stage, j.done = s, false
	c.size += j.size
	if c.todo == nil && more && c.size+2*j.size > aloneMost && runtime.GOMAXPROCS(0) > 1 {
		c.todo, c.ended = make(chan *job, jobsAhead), make(chan struct{}, 1)
		go c.work()
	}
	if c.todo == nil {
		return
	}
	if j.hashed == nil {
		j.hashed = make(chan struct{}, 1)
	}
	c.todo <- j
}

// wait returns when j is hashed. It hashes what nobody has begun.
func (c *crew) wait(j *job) {
	if c.todo == nil {
		j.stage.hash(j)
		return
	}
	for !j.done {
		select {
		case next := <-c.todo:
			next.stage.hash(next)
			next.done = true
		default:
			take(j.hashed)
			return
		}
	}
}

// run takes a stage through all its jobs, in order.
func run(s stage, jobs *[jobsAhead]job, c *crew) error {
	filled, applied := 0, 0
	defer func() { // after an error: leave no job to the crew
		for ; applied < filled; applied++ {
			c.wait(&jobs[applied%jobsAhead])
		}
	}()
	for more := true; more || applied < filled; {
		if more && filled-applied < c.ahead() {
			j := &jobs[filled%jobsAhead]
			var err error
			if more, err = s.fill(j); err != nil {
				return err
			}
			c.push(s, j, more)
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
