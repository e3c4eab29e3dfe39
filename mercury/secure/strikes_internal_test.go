package secure

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

func idOf(n int) (id strikeID) {
	binary.LittleEndian.PutUint64(id[:], uint64(n))
	return id
}

// The twin remembers everything that was ever added. Whatever the register accepts must be new to
// the twin within life; whatever the register refuses must be old to the twin, or the register must
// be full.
func TestStrikesAgainstATwinThatNeverForgets(t *testing.T) {
	const life, limit = 100 * time.Second, 40
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 5))
		s := newStrikes(life, limit)
		added := map[strikeID]time.Duration{}
		var now time.Duration
		for op := range 2000 {
			now += time.Duration(random.IntN(10)) * time.Second
			if random.IntN(100) == 0 {
				now += time.Duration(random.IntN(300)) * time.Second
			}
			if random.IntN(4) > 0 { // an Open may come without an Admit before it
				s.turn(now)
			}
			id := idOf(random.IntN(200))
			full := s.full()
			at, known := added[id]
			if s.add(id) {
				if known && now-at < life {
					t.Fatalf("seed %d, op %d: added at %v and again at %v", seed, op, at, now)
				}
				added[id] = now
			} else if !known && !full {
				t.Fatalf("seed %d, op %d: a new id was refused, although there is room", seed, op)
			}
			if len(s.new) > limit || len(s.old) > limit {
				t.Fatalf("seed %d, op %d: %d and %d ids, limit %d", seed, op, len(s.new), len(s.old), limit)
			}
		}
	}
}

func TestStrikesForgetAfterTwoTurns(t *testing.T) {
	s := newStrikes(time.Minute, 10)
	s.turn(0)
	s.add(idOf(1))
	for _, c := range []struct {
		now  time.Duration
		want bool
	}{{59 * time.Second, true}, {time.Minute, true}, {119 * time.Second, true}, {2 * time.Minute, false}} {
		s.turn(c.now)
		if s.has(idOf(1)) != c.want {
			t.Errorf("at %v: remembered %v", c.now, !c.want)
		}
	}
}

func TestKeyringForgetsAfterTwoPeriods(t *testing.T) {
	k := newKeyring(time.Minute, rand.NewChaCha8([32]byte{1}))
	if _, ok := k.open(nil, make([]byte, 100), nil); ok {
		t.Error("a ring without a key opens")
	}
	if err := k.turn(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	sealed := k.now.seal(nil, &[boxNonce]byte{}, []byte("text"), nil)
	for _, c := range []struct {
		now  time.Duration
		want bool
	}{{59 * time.Second, true}, {60 * time.Second, true}, {119 * time.Second, true}, {120 * time.Second, false}} {
		if err := k.turn(c.now); err != nil {
			t.Fatal(err)
		}
		if _, ok := k.open(nil, sealed, nil); ok != c.want {
			t.Errorf("at %v: opens %v", c.now, ok)
		}
	}
	sealed = k.now.seal(nil, &[boxNonce]byte{}, []byte("text"), nil)
	if err := k.turn(time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, ok := k.open(nil, sealed, nil); ok {
		t.Error("opens what was sealed many periods ago")
	}
}
