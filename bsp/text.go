package bsp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// String writes the tree as text that ParseText reads, one node a line, children indented below their line:
//
//	version 1.7
//	x 100
//	  cell 1.1 127.0.0.1:7001 5 created load=2500000
//	  cell 1.2 - 0
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
	if n.leaf.Load != 0 {
		fmt.Fprintf(s, " load=%d", n.leaf.Load)
	}
	s.WriteByte('\n')
}

// ParseText reads what String writes; indentation and empty lines do not matter. It is meant for tests and tools.
// Every error wraps ErrFormat and names the line.
func ParseText(text string) (*Tree, error) {
	build := newBuilder(Version{}, MaxLeaves)
	for i, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := parseTextLine(build, f); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return build.finish()
}

func parseTextLine(to *builder, f []string) error {
	if len(f) < 2 {
		return fmt.Errorf("%w: %q", ErrFormat, f[0])
	}
	switch f[0] {
	case "version":
		v, err := parseDotted(f[1])
		to.tree.version = Version(v)
		return err
	case "x", "z":
		at, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		axis := AxisX
		if f[0] == "z" {
			axis = AxisZ
		}
		return to.inner(axis, at)
	case "cell":
		l, err := parseTextLeaf(f[1:])
		if err != nil {
			return err
		}
		return to.leaf(l)
	}
	return fmt.Errorf("%w: %q", ErrFormat, f[0])
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
		case isLoad:
			if l.Load, err = strconv.ParseInt(v, 10, 64); err != nil {
				return l, fmt.Errorf("%w: %w", ErrFormat, err)
			}
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
