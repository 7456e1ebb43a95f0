package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/okradb/okra-go/bench"
)

// Suite is a set of cells that answers one question.
type Suite struct {
	Name        string // a word of the command line
	Usage       string // one line of its help
	Description string // the rest of its help, with examples

	// Sizes can be chosen by the user, by a flag each.
	Sizes []Size

	// Cells returns the cells to measure. Every process of a run calls it and finds its work in
	// what it returns, so it must depend on the options alone and do no work.
	Cells func(o Options) ([]Cell, error)

	// Derive returns tables of what follows from results of one run of this suite: these may be of
	// part of the cells only. Nil makes none.
	Derive func(results []Result) []bench.Table
}

// Size is one number, or several, with their defaults in full and in quick runs.
type Size struct {
	Name, Usage string
	Full, Quick []int
	List        bool // there may be several
	Bytes       bool // a size in bytes, else a count
}

// Options are the choices of a run. Plan fills in the defaults.
type Options struct {
	Quick       bool             `json:"quick"`
	Repetitions int              `json:"repetitions"` // default: 5, or 3 if Quick
	Seed        uint64           `json:"seed"`        // of all random choices
	Sizes       map[string][]int `json:"sizes"`       // by the names of the suite's; default: theirs
	Dir         string           `json:"dir"`         // folders are made inside; default: the system's for temporary files

	// SyncTime is how long a small write and its sync take in Dir, for estimates. Plan measures it.
	SyncTime time.Duration `json:"sync_time_ns"`
}

// maxSize bounds the sizes that may be asked for.
const maxSize = 1 << 32

// ErrDir is the error of [Plan] where no stores can be made.
var ErrDir = errors.New("make a folder for the stores")

// Plan returns o with its defaults and each size once, and the cells of s that terms name. A term
// is words of a cell's group and name, and parameters as parameter=value; it names the cells that
// have all of them, in any case. Without terms Plan returns all cells. A term that names no cell is
// an error, which lists the cells; so are several sizes where there can be one only.
func Plan(s Suite, o Options, terms []string) (Options, []Cell, error) {
	if o.Repetitions < 0 {
		return o, nil, errors.New("number of repetitions is negative")
	}
	if o.Repetitions == 0 && o.Quick {
		o.Repetitions = 3
	}
	if o.Repetitions == 0 {
		o.Repetitions = 5
	}
	sizes := make(map[string][]int)
	for _, size := range s.Sizes {
		chosen := o.Sizes[size.Name]
		switch {
		case len(chosen) > 0:
		case o.Quick:
			chosen = size.Quick
		default:
			chosen = size.Full
		}
		if len(chosen) > 1 && !size.List {
			return o, nil, fmt.Errorf("--%s: one number only", size.Name)
		}
		if slices.Min(chosen) < 1 || slices.Max(chosen) > maxSize {
			return o, nil, fmt.Errorf("--%s: not between 1 and 2^32", size.Name)
		}
		sizes[size.Name] = once(chosen)
	}
	o.Sizes = sizes
	var err error
	if o.SyncTime, err = syncTime(o.Dir); err != nil {
		return o, nil, err
	}
	cells, err := s.Cells(o)
	if err != nil {
		return o, nil, err
	}
	cells, err = choose(cells, terms)
	return o, cells, err
}

// Estimate is how long the cells will take, by their own estimates.
func Estimate(o Options, cells []Cell) time.Duration {
	var sum time.Duration
	shared := ""
	for _, c := range cells {
		sum += c.Cost * time.Duration(o.Repetitions)
		if c.Shared != shared {
			sum += c.SharedCost
		}
		shared = c.Shared
	}
	return sum
}

// once returns sizes without those that were there before.
func once(sizes []int) []int {
	var all []int
	for _, n := range sizes {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func choose(cells []Cell, terms []string) ([]Cell, error) {
	if len(terms) == 0 {
		return cells, nil
	}
	chosen := make([]bool, len(cells))
	for _, term := range terms {
		found := false
		for i, c := range cells {
			if c.named(term) {
				chosen[i], found = true, true
			}
		}
		if !found {
			var names []string
			for _, c := range cells {
				names = append(names, c.title())
			}
			// The list may be long: what is wrong stands at its end.
			return nil, fmt.Errorf("the cells are:\n  %s\nno cell is named %q", strings.Join(names, "\n  "), term)
		}
	}
	var selected []Cell
	for i, c := range cells {
		if chosen[i] {
			selected = append(selected, c)
		}
	}
	return selected, nil
}

// named reports whether term names c. Values of parameters may be written without their spaces.
func (c Cell) named(term string) bool {
	rest := " " + strings.Join(strings.Fields(strings.ToLower(term)), " ") + " "
	for _, p := range c.Params {
		value := strings.ToLower(p.Value)
		for _, v := range []string{value, strings.ReplaceAll(value, " ", "")} {
			rest = strings.ReplaceAll(rest, " "+strings.ToLower(p.Name)+"="+v+" ", " ")
		}
	}
	if strings.Contains(rest, "=") || strings.TrimSpace(term) == "" {
		return false // a parameter that c does not have
	}
	have := wordsOf(strings.ToLower(c.Group + " " + c.Name))
	return !slices.ContainsFunc(wordsOf(rest), func(w string) bool { return !slices.Contains(have, w) })
}

// wordsOf returns the words in s, which end at whatever is no letter and no digit.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
