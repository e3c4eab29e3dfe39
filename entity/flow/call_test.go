package flow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
)

// Errors keep what they are on their way, and a text that is too long is cut.
func TestErrorsTravel(t *testing.T) {
	for _, want := range []error{entity.ErrRefused, entity.ErrNoEntity, entity.ErrNoPart, entity.ErrNoMethod, entity.ErrArguments, entity.ErrFull} {
		for _, err := range []error{want, fmt.Errorf("%w: and why", want)} {
			if got := travel(t, err); !errors.Is(got, want) || err != want && !strings.Contains(got.Error(), "and why") {
				t.Errorf("%v arrives as %v", err, got)
			}
		}
	}
	var game *entity.GameError
	if got := travel(t, &entity.GameError{Code: -7, Text: strings.Repeat("x", 5000)}); !errors.As(got, &game) || game.Code != -7 || len(game.Text) != limits.ErrorText {
		t.Errorf("a game's error arrives as %v", got)
	}
	if got := travel(t, errors.New("unknown")); !errors.Is(got, entity.ErrRefused) {
		t.Errorf("any other arrives as %v", got)
	}
}

func travel(t *testing.T, err error) error {
	t.Helper()
	a := flow.Answer{Request: flow.RequestID{Number: 1}, Results: []byte("lost")}
	a.Fail(err)
	var got flow.Answer
	if err := got.Parse(a.Append(nil)[1:]); err != nil {
		t.Fatal(err)
	}
	return got.Err()
}

// What cannot be true of a call or an answer is refused.
func TestMalformedCalls(t *testing.T) {
	call := flow.ServerCall{Caller: 7, CallerPart: entity.ClientPart, Part: entity.CellPart}
	if new(flow.ServerCall).Parse(call.Append(nil)[1:]) == nil {
		t.Error("a client makes a server call")
	}
	for _, within := range []time.Duration{0, limits.CallTime + 1} {
		call = flow.ServerCall{Caller: 7, CallerPart: entity.BasePart, Part: entity.CellPart, Request: flow.RequestID{Number: 1}, Within: within}
		if new(flow.ServerCall).Parse(call.Append(nil)[1:]) == nil {
			t.Errorf("a caller waits %v", within)
		}
	}
	a := flow.Answer{Code: 99}
	if new(flow.Answer).Parse(a.Append(nil)[1:]) == nil {
		t.Error("an unknown error is taken")
	}
	a = flow.Answer{Code: 1, Results: []byte("x")}
	if new(flow.Answer).Parse(a.Append(nil)[1:]) == nil {
		t.Error("an error has results")
	}
}

// stream is what a sender that is restored again and again sends, and a receiver that misses some of
// its lives.
type stream struct {
	out  flow.Sender
	in   flow.Receiver
	life uint32
	got  string
}

func (s *stream) add(t *testing.T, text string) {
	t.Helper()
	if _, err := s.out.Add(0, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (s *stream) send() {
	s.out.Each(0, func(n uint64, p []byte) {
		s.in.AcceptBorn(s.life, s.out.Born(n, s.life), s.out.Low(), n, p, func(p []byte) { s.got += string(p) })
	})
}

// restore goes back to a copy of a life.
func (s *stream) restore(t *testing.T, copy []byte, of, life uint32) {
	t.Helper()
	r := codec.NewReader(copy)
	s.out.Read(&r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s.out.Restart(of)
	s.life = life
}

// TestBorn: of a restored sender, the receiver takes what is new, and nothing that a backup had kept,
// even if it has never heard of the life between.
func TestBorn(t *testing.T) {
	s := &stream{life: 1}
	s.add(t, "a")
	s.add(t, "b")
	first := s.out.Append(nil)
	s.add(t, "c")
	s.send()
	s.restore(t, first, 1, 2) // without c
	s.add(t, "d")
	second := s.out.Append(nil)
	s.add(t, "e") // nobody hears of this life
	s.restore(t, second, 2, 3)
	s.add(t, "f")
	moved := s.in.Append(nil)
	r := codec.NewReader(moved)
	s.in.Read(&r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s.send()
	if s.got != "abcdf" {
		t.Errorf("it heard %q", s.got)
	}
	s.restore(t, s.out.Append(nil), 3, 4)
	s.add(t, "g")
	s.send()
	if s.got != "abcdfg" {
		t.Errorf("it heard %q", s.got)
	}
}
