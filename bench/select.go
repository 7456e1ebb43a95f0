package bench

import (
	"fmt"
	"slices"
	"strings"
)

// SelectRows returns the rows that terms name, in the order of the table. A term names the row
// of that name; else the rows that contain its words ("set", "get 100"); else the rows that
// contain it as a piece of text ("iter"). Upper and lower case are the same. Without terms it
// returns the rows that are not optional. A term that names no row is an error, which lists the
// names.
func SelectRows(rows []Row, terms []string) ([]Row, error) {
	if len(terms) == 0 {
		return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Optional }), nil
	}
	chosen := make([]bool, len(rows))
	for _, term := range terms {
		matches := match(rows, strings.ToLower(strings.TrimSpace(term)))
		if len(matches) == 0 {
			return nil, fmt.Errorf("no row is named %q; the rows are: %s", term, rowNames(rows))
		}
		for _, i := range matches {
			chosen[i] = true
		}
	}
	var selected []Row
	for i, row := range rows {
		if chosen[i] {
			selected = append(selected, row)
		}
	}
	return selected, nil
}

// match returns the indexes of the rows that term names, by the strictest rule that names any.
func match(rows []Row, term string) []int {
	if term == "" {
		return nil
	}
	rules := []func(name string) bool{
		func(name string) bool { return name == term },
		func(name string) bool {
			words := strings.Fields(name)
			return !slices.ContainsFunc(strings.Fields(term), func(word string) bool {
				return !slices.Contains(words, word)
			})
		},
		func(name string) bool { return strings.Contains(name, term) },
	}
	for _, rule := range rules {
		var matches []int
		for i, row := range rows {
			if rule(strings.ToLower(row.Name)) {
				matches = append(matches, i)
			}
		}
		if len(matches) > 0 {
			return matches
		}
	}
	return nil
}

func rowNames(rows []Row) string {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	return strings.Join(names, ", ")
}
