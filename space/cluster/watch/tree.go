package watch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MaxValues bounds the values of a tree: more than anyone reads, and a page of them is found by
	// a search.
	MaxValues = 1024
	// MaxPath bounds a path, in bytes: some names, one below the other.
	MaxPath = 128
	// MaxText bounds the text of a value, in bytes: a long list of ids.
	MaxText = 1024
	// MaxAbout bounds what is said about a value, in bytes: a line.
	MaxAbout = 160
	// MaxList bounds the values of one answer. With the longest texts that is 84 KB, far below what
	// a message takes.
	MaxList = 64
)

// Value is one value of a process as an operator sees it.
type Value struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// About says in a few words what it is, with the unit.
	About string `json:"about,omitempty"`
	// Writable says that it can be set.
	Writable bool `json:"writable,omitempty"`
}

// entry is a value in its tree.
type entry struct {
	path, about string
	get         func() string
	set         func(string) error // nil if it can only be read
}

// Tree is the values of one process. New makes an empty one.
type Tree struct {
	*leaves
	prefix string
}

// leaves are what a tree and those under it have in common.
type leaves struct {
	entries []entry // by path
	faults  []error
}

// New returns an empty tree.
func New() *Tree { return &Tree{leaves: new(leaves)} }

// Under returns the part of the tree below a name: what is added there has it before its path.
func (t *Tree) Under(name string) *Tree { return &Tree{t.leaves, t.prefix + name + "/"} }

// Add adds a value. Its path is names of small letters, digits and underscores, with slashes
// between them. set gets a text from outside; it may be nil, and then the value can only be read.
// What is wrong with the path is told by Err. [Show] and [Setting] do the same for values with a
// type.
func (t *Tree) Add(path, about string, get func() string, set func(string) error) {
	path = t.prefix + path
	i, found := t.find(path)
	switch {
	case !named(path):
		t.fault("%q is no path: take names of a-z, 0-9 and _ with / between them, %d bytes at most", path, MaxPath)
	case found:
		t.fault("%q is there twice: give one of them another name", path)
	case len(about) > MaxAbout:
		t.fault("%q says %d bytes about itself: %d are room for a line", path, len(about), MaxAbout)
	case get == nil:
		t.fault("%q has no getter: give one", path)
	case len(t.entries) == MaxValues:
		t.fault("%q is one too many: a process has at most %d values", path, MaxValues)
	default:
		t.entries = slices.Insert(t.entries, i, entry{path, about, get, set})
	}
}

func (t *Tree) fault(format string, args ...any) {
	if len(t.faults) < MaxList { // enough to see the pattern
		t.faults = append(t.faults, fmt.Errorf("watch: "+format, args...))
	}
}

// Err is everything that was wrong with what was added, here and under the same root; nil if
// nothing was.
func (t *Tree) Err() error { return errors.Join(t.faults...) }

// Len is how many values there are under the root.
func (t *Tree) Len() int { return len(t.entries) }

func (t *Tree) find(path string) (int, bool) {
	return slices.BinarySearchFunc(t.entries, path, func(e entry, p string) int { return cmp.Compare(e.path, p) })
}

// Read returns one value. The error is NoPath.
func (t *Tree) Read(path string) (Value, error) {
	i, found := t.find(t.prefix + path)
	if !found {
		return Value{}, t.unknown(path)
	}
	return t.entries[i].value(), nil
}

// Set sets a value, and returns it as it is then. The error is NoPath, ReadOnly, or Refused with
// what is taken instead.
func (t *Tree) Set(path, text string) (Value, error) {
	i, found := t.find(t.prefix + path)
	if !found {
		return Value{}, t.unknown(path)
	}
	e := &t.entries[i]
	switch {
	case e.set == nil:
		return Value{}, ReadOnly.With(clip(e.path, MaxPath))
	case len(text) > MaxText:
		return Value{}, Refused.With(fmt.Sprintf("%s: a text of %d bytes: %d at most", e.path, len(text), MaxText))
	}
	if err := e.set(text); err != nil {
		return Value{}, fmt.Errorf("%w: %s: %w", Refused, e.path, err)
	}
	return e.value(), nil
}

// List returns up to most values in the order of their paths: those under a path, or all for "",
// and of them those after another path. more says that there are further ones. The error is NoPath
// if there is nothing under the path.
func (t *Tree) List(under, after string, most int) (list []Value, more bool, err error) {
	here := false
	for i := range t.entries {
		e := &t.entries[i]
		if !below(e.path, t.prefix+under) {
			continue
		}
		here = true
		switch {
		case after != "" && e.path <= t.prefix+after:
		case len(list) == most:
			return list, true, nil
		default:
			list = append(list, e.value())
		}
	}
	if !here && under != "" {
		return nil, false, t.unknown(under)
	}
	return list, false, nil
}

// below reports whether a path is another one, or under it.
func below(path, under string) bool {
	rest, ok := strings.CutPrefix(path, under)
	return ok && (rest == "" || under == "" || rest[0] == '/' || strings.HasSuffix(under, "/"))
}

// unknown is NoPath with the names that there are instead, at the place where the path goes astray.
func (t *Tree) unknown(path string) error {
	dir := path
	for dir != "" {
		dir, _, _ = cutLast(dir)
		if slices.ContainsFunc(t.entries, func(e entry) bool { return below(e.path, t.prefix+dir) }) {
			break
		}
	}
	var names []string
	for i := range t.entries {
		if rest, ok := strings.CutPrefix(t.entries[i].path, t.prefix+dir); ok && below(t.entries[i].path, t.prefix+dir) {
			name, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	where := "there are"
	if dir != "" {
		where = "under " + dir + " there are"
	}
	return NoPath.With(clip(fmt.Sprintf("%q; %s %s", clip(path, MaxPath), where, strings.Join(names, ", ")), MaxText/2))
}

func cutLast(path string) (before, after string, found bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

func (e *entry) value() Value {
	return Value{Path: e.path, Text: clip(e.get(), MaxText), About: e.about, Writable: e.set != nil}
}

// clip shortens a text to at most so many bytes, and says so at its end. It makes it readable.
func clip(s string, most int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	if len(s) <= most {
		return s
	}
	end := fmt.Sprintf(" ... (%d bytes)", len(s))
	at := most - len(end)
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + end
}

// named reports whether a path can name a value.
func named(path string) bool {
	if len(path) > MaxPath {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return false
		}
	}
	return true
}
