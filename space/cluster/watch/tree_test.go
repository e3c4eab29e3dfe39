package watch

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func fixed(s string) func() string { return func() string { return s } }

// What is wrong with what is added is told all at once, and the rest is there.
func TestFaults(t *testing.T) {
	tree := New()
	for _, path := range []string{"a/b", "", "/a", "a/", "a//b", "A", "a b", "ä", "a.b", strings.Repeat("a", MaxPath+1), "a/b"} {
		tree.Add(path, "", fixed(""), nil)
	}
	tree.Under("x").Add("y", strings.Repeat("a", MaxAbout+1), fixed(""), nil)
	tree.Add("z", "", nil, nil)
	err := tree.Err()
	if err == nil || strings.Count(err.Error(), "\n") != 11 || !strings.Contains(err.Error(), `"a/b" is there twice`) || !strings.Contains(err.Error(), `"x/y" says`) {
		t.Errorf("faults: %v", err)
	}
	if tree.Len() != 1 {
		t.Errorf("%d values", tree.Len())
	}
	for i := range MaxValues + 100 {
		tree.Add(fmt.Sprintf("many/v%d", i), "", fixed(""), nil)
	}
	if tree.Len() != MaxValues || len(tree.faults) > MaxList {
		t.Errorf("%d values, %d faults", tree.Len(), len(tree.faults))
	}
}

// A list is in order, a page at a time, and a part of the tree is by whole names.
func TestList(t *testing.T) {
	tree := New()
	for _, path := range []string{"cells/reals", "cells", "cellsize", "cells/ghosts", "app/load"} {
		tree.Add(path, "about "+path, fixed("1"), nil)
	}
	paths := func(list []Value) (s string) {
		for _, v := range list {
			s += v.Path + " "
		}
		return s
	}
	for _, x := range []struct {
		under, after string
		most         int
		want         string
		more         bool
	}{
		{"", "", 9, "app/load cells cells/ghosts cells/reals cellsize ", false},
		{"cells", "", 9, "cells cells/ghosts cells/reals ", false},
		{"cells/", "", 9, "cells/ghosts cells/reals ", false},
		{"", "", 2, "app/load cells ", true},
		{"", "cells", 2, "cells/ghosts cells/reals ", true},
		{"", "cells/reals", 2, "cellsize ", false},
		{"", "zzz", 2, "", false},
		{"cells", "cells/b", 2, "cells/ghosts cells/reals ", false},
	} {
		list, more, err := tree.List(x.under, x.after, x.most)
		if got := paths(list); err != nil || got != x.want || more != x.more {
			t.Errorf("List(%q, %q, %d) = %s %v %v, want %s %v", x.under, x.after, x.most, got, more, err, x.want, x.more)
		}
	}
	if list, _, err := tree.Under("cells").List("", "", 9); err != nil || paths(list) != "cells/ghosts cells/reals " {
		t.Errorf("under cells: %s, %v", paths(list), err)
	}
	if _, _, err := tree.List("cell", "", 9); !errors.Is(err, NoPath) || !strings.Contains(err.Error(), "app, cells, cellsize") {
		t.Errorf("under what is not there: %v", err)
	}
	if _, err := tree.Read("cells/what/not"); !errors.Is(err, NoPath) || !strings.Contains(err.Error(), "under cells there are ghosts, reals") {
		t.Errorf("read what is not there: %v", err)
	}
	if _, more, err := New().List("", "", 9); more || err != nil {
		t.Errorf("an empty tree: %v", err)
	}
}

// Texts are read as their type, and the errors tell how to write them.
func TestTypes(t *testing.T) {
	tree := New()
	add(tree, "bool", true, []string{"false", "1"}, "maybe", "true or false")
	add(tree, "int", -3, []string{"0", "-9"}, "1.5", "whole number")
	add(tree, "int64", int64(-3), []string{"9000000000"}, "1e3", "whole number")
	add(tree, "uint32", uint32(3), []string{"4294967295"}, "4294967296", "4294967295")
	add(tree, "uint64", uint64(3), []string{"18446744073709551615"}, "-1", "not below 0")
	add(tree, "float32", float32(0.1), []string{"0.25", "-3"}, "Inf", "a number")
	add(tree, "float64", 0.1, []string{"1e9"}, "NaN", "a number")
	add(tree, "string", "a", []string{"", "b c"}, "", "")
	add(tree, "duration", time.Second, []string{"250ms", "-1h"}, "10", "unit")
	for _, x := range tree.entries {
		c := cases[x.path]
		for _, text := range c.good {
			if _, err := tree.Set(x.path, text); err != nil {
				t.Errorf("%s = %q: %v", x.path, text, err)
			}
		}
		was, _ := tree.Read(x.path)
		if c.say == "" {
			continue
		}
		if _, err := tree.Set(x.path, c.bad); !errors.Is(err, Refused) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), x.path) {
			t.Errorf("%s = %q: %v", x.path, c.bad, err)
		}
		if is, _ := tree.Read(x.path); is != was {
			t.Errorf("%s = %s after a refusal, was %s", x.path, is.Text, was.Text)
		}
	}
	for path, want := range map[string]string{"float32": "-3", "float64": "1e+09", "duration": "-1h0m0s", "bool": "true"} {
		if v, _ := tree.Read(path); v.Text != want || !v.Writable {
			t.Errorf("%s is %q, want %q", path, v.Text, want)
		}
	}
}

type spelled struct {
	good     []string
	bad, say string
}

var cases = map[string]spelled{}

func add[T Text](tree *Tree, path string, v T, good []string, bad, say string) {
	cases[path] = spelled{good, bad, say}
	Setting(tree, path, "", func() T { return v }, func(n T) error { v = n; return nil })
}

// No text is longer than it may be, or unreadable, whatever a getter says.
func TestLongTexts(t *testing.T) {
	tree := New()
	tree.Add("long", "", fixed(strings.Repeat("ä", MaxText)), func(string) error { return nil })
	tree.Add("rubbish", "", fixed("a\xff\xfeb"), nil)
	v, _ := tree.Read("long")
	if len(v.Text) > MaxText || !strings.HasSuffix(v.Text, "... (2048 bytes)") || !utf8.ValidString(v.Text) {
		t.Errorf("%d bytes: %s", len(v.Text), v.Text[len(v.Text)-30:])
	}
	if v, _ := tree.Read("rubbish"); v.Text != "a?b" {
		t.Errorf("%q", v.Text)
	}
	if _, err := tree.Set("long", strings.Repeat("a", MaxText+1)); !errors.Is(err, Refused) {
		t.Error(err)
	}
	if _, err := tree.Set(strings.Repeat("a", 1<<20), ""); !errors.Is(err, NoPath) || len(err.Error()) > MaxText {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
	if _, err := tree.Set("rubbish", "x"); !errors.Is(err, ReadOnly) {
		t.Error(err)
	}
}

func TestProcess(t *testing.T) {
	for _, x := range []struct {
		text string
		is   Process
		back string
	}{
		{"cellapp2", Process{"CellApp", 2}, "cellapp2"}, {"CellApp02", Process{"CellApp", 2}, "cellapp2"},
		{"cellappmgr", Process{"CellAppMgr", 0}, "cellappmgr"}, {"DBAPP", Process{"DBApp", 0}, "dbapp"},
		{"baseapp4294967295", Process{"BaseApp", math.MaxUint32}, "baseapp4294967295"},
	} {
		if p, err := ParseProcess(x.text); err != nil || p != x.is || p.String() != x.back {
			t.Errorf("%s is %+v, %v: %v", x.text, p, p, err)
		}
	}
	for _, text := range []string{"", "7", "observer1", "cellapp-1", "cellapp4294967296", "cell app1"} {
		if p, err := ParseProcess(text); err == nil || !strings.Contains(err.Error(), "cellapp2") {
			t.Errorf("%q is %+v, %v", text, p, err)
		}
	}
	for f := range LastFault + 2 {
		if f.Error() == "" || f.With("") != error(f) || !errors.Is(f.With("x"), f) {
			t.Errorf("fault %d", f)
		}
	}
}

// FuzzSet: whatever comes from outside, a tree answers within its bounds, and what is refused has
// changed nothing.
func FuzzSet(f *testing.F) {
	f.Add("int", "7")
	f.Add("duration", "-1h")
	f.Add("a/b/c", "")
	f.Add("float64", "1e999")
	f.Fuzz(func(t *testing.T, path, text string) {
		tree := New()
		n, d, x := 1, time.Second, 0.5
		Setting(tree, "int", "", func() int { return n }, func(v int) error { n = v; return nil })
		Setting(tree, "a/duration", "", func() time.Duration { return d }, func(v time.Duration) error { d = v; return nil })
		Setting(tree, "a/float64", "", func() float64 { return x }, func(v float64) error { x = v; return nil })
		v, err := tree.Set(path, text)
		if err != nil {
			if n != 1 || d != time.Second || x != 0.5 || len(err.Error()) > 2*MaxText {
				t.Errorf("refused with %d bytes, and %v %v %v", len(err.Error()), n, d, x)
			}
		} else if again, err := tree.Set(path, v.Text); err != nil || again != v {
			t.Errorf("%q gives %+v and then %+v, %v", text, v, again, err)
		}
		list, _, err := tree.List(path, text, 2)
		if len(list) > 2 || err != nil && !errors.Is(err, NoPath) {
			t.Errorf("listed %v, %v", list, err)
		}
		_, _ = ParseProcess(path)
	})
}
