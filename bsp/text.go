package bsp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// String writes the tree as text that ParseText reads, one node a line, children indented below
// their line:
//
//	version 1.7
//	x 100
//	  cell 1.1 127.0.0.1:7001 5 created load=2500000
//	  cell 1.2 - 0 retiring overloaded
func (t *Tree) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "version %v\n", t.version)
	t.write(&s, t.root, 0)
	return s.String()
}

func (t *Tree) write(s *strings.Builder, slot int32, indent int) {
	n := &t.nodes[slot]
	for range indent {
		s.WriteString("  ")
	}
	if n.leaf == nil {
		fmt.Fprintf(s, "%v %s\n", n.axis, strconv.FormatFloat(n.line, 'g', -1, 64))
		t.write(s, n.left, indent+1)
		t.write(s, n.right, indent+1)
		return
	}
	app := "-"
	if n.leaf.App.IsValid() {
		app = n.leaf.App.String()
	}
	fmt.Fprintf(s, "cell %v %s %d", n.leaf.Cell, app, n.leaf.Salt)
	if n.leaf.Created {
		s.WriteString(" created")
	}
	if n.leaf.Loading {
		s.WriteString(" loading")
	}
	if n.leaf.Retiring {
		s.WriteString(" retiring")
	}
	if n.leaf.Overloaded {
		s.WriteString(" overloaded")
	}
	if n.leaf.Load != 0 {
		fmt.Fprintf(s, " load=%d", n.leaf.Load)
	}
	s.WriteByte('\n')
}

// ParseText reads what String writes; indentation and empty lines do not matter. It is meant for
// tests and tools. Every error wraps ErrFormat; one about a single line names that line.
func ParseText(text string) (*Tree, error) {
	t := &Tree{root: none}
	p := textParser{lines: strings.Split(text, "\n"), a: assembly{tree: t, limit: MaxLeaves}}
	f := p.next()
	if len(f) == 2 && f[0] == "version" {
		v, err := parseDotted(f[1])
		if err != nil {
			return nil, p.at(err)
		}
		t.version = Version(v)
		f = p.next()
	}
	var err error
	if t.root, err = p.subtree(f, 0); err != nil {
		return nil, p.at(err)
	}
	if f = p.next(); f != nil {
		return nil, p.at(fmt.Errorf("%w: %q after the last node", ErrFormat, f[0]))
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	return t, nil
}

// textParser reads a text node by node.
type textParser struct {
	lines []string
	read  int
	a     assembly
}

// next returns the words of the next line that has any, nil after the last.
func (p *textParser) next() []string {
	for p.read < len(p.lines) {
		p.read++
		if f := strings.Fields(p.lines[p.read-1]); len(f) > 0 {
			return f
		}
	}
	return nil
}

func (p *textParser) at(err error) error { return fmt.Errorf("line %d: %w", p.read, err) }

// subtree reads the node of one line and everything below it.
func (p *textParser) subtree(f []string, depth int) (int32, error) {
	switch {
	case len(f) == 0:
		return none, fmt.Errorf("%w: cut short", ErrFormat)
	case len(f) < 2:
		return none, fmt.Errorf("%w: %q", ErrFormat, f[0])
	case depth > MaxDepth:
		return none, fmt.Errorf("%w: more than %d deep", ErrFormat, MaxDepth)
	}
	switch f[0] {
	case "x":
		return p.inner(AxisX, f[1], depth)
	case "z":
		return p.inner(AxisZ, f[1], depth)
	case "cell":
		l, err := parseTextLeaf(f[1:])
		if err != nil {
			return none, err
		}
		if p.a.leaves >= p.a.limit {
			return none, fmt.Errorf("%w: more than %d leaves", ErrFormat, p.a.limit)
		}
		return p.a.leaf(&l), nil
	}
	return none, fmt.Errorf("%w: %q", ErrFormat, f[0])
}

func (p *textParser) inner(axis Axis, at string, depth int) (int32, error) {
	line, err := strconv.ParseFloat(at, 64)
	if err != nil {
		return none, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	left, err := p.subtree(p.next(), depth+1)
	if err != nil {
		return none, err
	}
	right, err := p.subtree(p.next(), depth+1)
	if err != nil {
		return none, err
	}
	return p.a.inner(axis, line, left, right), nil
}

func parseTextLeaf(f []string) (l Leaf, err error) {
	if l.Cell, err = parseDotted(f[0]); err != nil {
		return l, err
	}
	if len(f) > 1 && f[1] != "-" {
		if l.App, err = netip.ParseAddrPort(f[1]); err != nil {
			return l, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if len(f) > 2 {
		salt, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			return l, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		l.Salt = uint32(salt)
	}
	for _, word := range f[min(3, len(f)):] {
		switch v, isLoad := strings.CutPrefix(word, "load="); {
		case word == "created":
			l.Created = true
		case word == "loading":
			l.Loading = true
		case word == "retiring":
			l.Retiring = true
		case word == "overloaded":
			l.Overloaded = true
		case isLoad:
			load, err := strconv.ParseUint(v, 10, 63)
			if err != nil {
				return l, fmt.Errorf("%w: %w", ErrFormat, err)
			}
			l.Load = int64(load)
		default:
			return l, fmt.Errorf("%w: %q", ErrFormat, word)
		}
	}
	return l, nil
}

func parseDotted(s string) (CellID, error) {
	a, b, _ := strings.Cut(s, ".")
	term, err := strconv.ParseUint(a, 10, 32)
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(b, 10, 32); err == nil {
			return CellID{Term: uint32(term), N: uint32(n)}, nil
		}
	}
	return CellID{}, fmt.Errorf("%w: %w", ErrFormat, err)
}
