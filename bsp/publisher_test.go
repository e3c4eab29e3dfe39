package bsp

import (
	"bytes"
	"errors"
	"testing"
)

func TestPublisherTellsNothingTwice(t *testing.T) {
	tree, p := mustParse(t, nested), NewPublisher(3, 2)
	if p.Message(Version{}) != nil {
		t.Error("a message before the first version")
	}
	first, changed, err := p.Publish(tree)
	if err != nil || !changed || first.Version() != (Version{3, 1}) {
		t.Fatalf("first: %v, %v, %v", first, changed, err)
	}
	told := func(load int64) (Version, bool) {
		t.Helper()
		tree.At(0, 0).Load = load
		next, changed, err := p.Publish(tree)
		if err != nil {
			t.Fatal(err)
		}
		return next.Version(), changed
	}
	for _, tt := range []struct {
		load    int64
		changed bool
		is      int64
	}{
		{LoadBand - 1, false, 0},
		{LoadBand, true, LoadBand},
		{1, false, LoadBand},
		{0, true, 0},
		{LoadBand + 2*LoadStep/5, true, LoadBand},
		{2*LoadBand - 1, false, LoadBand},
		{2 * LoadBand, true, 2 * LoadBand},
		{LoadBand + 1, false, 2 * LoadBand},
		{-5, true, 0},
		{1<<63 - 1, true, (1<<63 - 1) / LoadStep * LoadStep},
	} {
		if v, changed := told(tt.load); changed != tt.changed || p.Tree().At(0, 0).Load != tt.is {
			t.Errorf("load %d: %v, changed %v, told %d", tt.load, v, changed, p.Tree().At(0, 0).Load)
		}
	}
}

func TestPublisherSendsWhatIsShorter(t *testing.T) {
	e, p := newEditor(3), NewPublisher(1, 3)
	for e.tree.Len() < 20 {
		e.edit()
	}
	var told []*Tree
	for range 6 {
		e.someLeaf().Salt++
		next, _, err := p.Publish(e.tree)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, next)
	}
	now := told[5]
	full := now.Append(nil)
	tests := []struct {
		name string
		from Version
		want []byte
	}{
		{"the last version", told[5].Version(), nil},
		{"the one before", told[4].Version(), now.AppendDelta(nil, told[4])},
		{"the last that is kept", told[3].Version(), now.AppendDelta(nil, told[3])},
		{"one that is not kept", told[2].Version(), full},
		{"none", Version{}, full},
		{"one of an older term", Version{0, 99}, full},
		{"one of a newer term", Version{2, 1}, nil},
		{"one that never was", Version{1, 99}, nil},
	}
	for _, tt := range tests {
		if got := p.Message(tt.from); !bytes.Equal(got, tt.want) {
			t.Errorf("from %s: %d bytes, want %d", tt.name, len(got), len(tt.want))
		}
	}
	other := NewPublisher(2, 3)
	other.Adopt(now)
	other.Adopt(told[0]) // too late
	fresh, changed, err := other.Publish(e.tree)
	if err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	if got, err := now.Apply(other.Message(now.Version())); err != nil || got.String() != fresh.String() {
		t.Errorf("over the change of managers: %v", err)
	}
	if bytes.Equal(other.Message(told[0].Version()), other.Message(now.Version())) {
		t.Error("a delta for a tree that is not known")
	}
}

func TestPublisherRefusesATreeThatNobodyCouldTake(t *testing.T) {
	tree, p := mustParse(t, nested), NewPublisher(1, 2)
	for _, l := range tree.Leaves() {
		l.Retiring = true // bypassing Retire
	}
	if _, _, err := p.Publish(tree); !errors.Is(err, ErrRetiring) || !errors.Is(err, ErrFormat) {
		t.Errorf("error %v", err)
	}
	if p.Tree() != nil {
		t.Error("told nevertheless")
	}
}

func TestPublisherSendsTheWholeTreeWhereADeltaIsNoShorter(t *testing.T) {
	p := NewPublisher(1<<31, 3) // its versions take more bytes in a delta
	first, _, err := p.Publish(mustParse(t, four))
	if err != nil {
		t.Fatal(err)
	}
	other := mustParse(t, "cell 9.1")
	next, _, err := p.Publish(other)
	if err != nil {
		t.Fatal(err)
	}
	delta, msg := next.AppendDelta(nil, first), p.Message(first.Version())
	if len(delta) < len(msg) || !bytes.Equal(msg, next.Append(nil)) {
		t.Errorf("%d bytes are sent, the delta has %d", len(msg), len(delta))
	}
}
