package script

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
)

func asked(n uint64, within time.Duration) Asked {
	return Asked{Caller: 7, CallerPart: entity.CellPart, Request: flow.RequestID{Life: 1, Number: n}, Method: 2, Within: within}
}

// keep has o keep a call for later.
func keep(t testing.TB, o *Owed, now time.Duration, a Asked) entity.AnswerToken {
	t.Helper()
	former := o.Begin(a)
	token, err := o.Later(now)
	if later := o.End(former, false); err != nil || !later {
		t.Fatalf("later %v, %v", later, err)
	}
	return token
}

// Each call within a call has its own token, and the outer one goes on with its own.
func TestOwedOfNestedCalls(t *testing.T) {
	var o Owed
	outer := o.Begin(asked(1, time.Second))
	first, _ := o.Later(0)
	inner := keep(t, &o, 0, asked(2, time.Second))
	if again, _ := o.Later(0); again != first || inner == first {
		t.Errorf("tokens %v, %v and %v", first, inner, again)
	}
	silent := o.Begin(Asked{})
	if token, err := o.Later(0); token != 0 || err != nil || o.End(silent, false) {
		t.Errorf("a call that wants no answer: %v, %v", token, err)
	}
	if o.End(outer, true) || o.Len() != 1 {
		t.Error("a call that has failed is answered later")
	}
	if _, err := o.Later(0); !errors.Is(err, entity.ErrNoCall) {
		t.Errorf("no call: %v", err)
	}
}

// There is a bound, and what is due makes room.
func TestOwedIsBounded(t *testing.T) {
	var o Owed
	for n := range uint64(limits.OwedAnswers) {
		keep(t, &o, 0, asked(n+1, time.Duration(n%2+1)*time.Second))
	}
	former := o.Begin(asked(9999, time.Second))
	if _, err := o.Later(0); !errors.Is(err, entity.ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	if o.End(former, false) {
		t.Error("it is kept all the same")
	}
	if n := o.Expire(time.Second - 1); n != 0 {
		t.Errorf("%d are due too early", n)
	}
	if n := o.Expire(time.Second); n != limits.OwedAnswers/2 || o.Len() != n {
		t.Errorf("%d are due, %d left", n, o.Len())
	}
	if n := o.Expire(2 * time.Second); n != limits.OwedAnswers/2 || o.Len() != 0 {
		t.Errorf("%d are due, %d left", n, o.Len())
	}
}

// Two calls whose tokens are the same by chance get two.
func TestTokensDiffer(t *testing.T) {
	var o Owed
	a := asked(1, time.Second)
	if x, y := keep(t, &o, 0, a), keep(t, &o, 0, a); x == y {
		t.Error("one token twice")
	}
}

func FuzzOwed(f *testing.F) {
	var o Owed
	for n := range uint64(3) {
		keep(f, &o, 0, asked(n+1, time.Duration(n+1)*time.Second))
	}
	f.Add(o.Append(nil, 500*time.Millisecond))
	f.Add([]byte{1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var x, y Owed
		r := codec.NewReader(b)
		x.Read(&r, time.Hour)
		if r.Close() != nil {
			return
		}
		again := x.Append(nil, time.Hour)
		r = codec.NewReader(again)
		y.Read(&r, time.Hour)
		if err := r.Close(); err != nil || !bytes.Equal(y.Append(nil, time.Hour), again) {
			t.Errorf("read %x, write %x: %v", b, again, err)
		}
		x.Expire(2 * time.Hour)
		if x.Len() != 0 && x.due <= 2*time.Hour {
			t.Errorf("%d are left, due at %v", x.Len(), x.due)
		}
	})
}
