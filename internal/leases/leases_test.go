package leases_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/leases"
)

// What is put again stands longer.
func ExampleSet() {
	var s leases.Set[string, int]
	s.Put("a", 1, 10*time.Second, 100)
	s.Put("b", 2, 11*time.Second, 100)
	s.Put("a", 3, 12*time.Second, 100)

	s.Expire(11 * time.Second)
	fmt.Println(*s.Get("a"), s.Get("b"))
	// Output: 3 <nil>
}

// TestOldestGoes: there is room for so many leases, and one of two of a key does not end the value.
func TestOldestGoes(t *testing.T) {
	var s leases.Set[int, int]
	for _, key := range []int{1, 2, 1, 3} {
		s.Put(key, key, time.Minute, 3)
	}
	for key, want := range map[int]bool{1: true, 2: true, 3: true} {
		if is := s.Get(key) != nil; is != want {
			t.Errorf("%d is there: %t", key, is)
		}
	}
	s.Put(4, 4, time.Minute, 3)
	if s.Get(2) != nil || s.Len() != 3 {
		t.Errorf("there are %d; the oldest is %v", s.Len(), s.Get(2))
	}
	if s.Expire(time.Minute); s.Len() != 0 {
		t.Errorf("%d are left", s.Len())
	}
}

// TestAgainstAList compares a Set with a list of all that was ever put.
func TestAgainstAList(t *testing.T) {
	const most, keys = 50, 20
	chance := rand.New(rand.NewPCG(1, 2))
	var s leases.Set[int, int]
	type put struct {
		key, value int
		until      time.Duration
	}
	var list []put
	now := time.Duration(0)
	for i := range 10_000 {
		now += time.Duration(chance.IntN(3))
		s.Expire(now)
		for len(list) > 0 && list[0].until <= now {
			list = list[1:]
		}
		if p := (put{chance.IntN(keys), i, now + 60}); chance.IntN(4) > 0 {
			if len(list) == most {
				list = list[1:]
			}
			list = append(list, p)
			s.Put(p.key, p.value, p.until, most)
		}
		want := map[int]int{}
		for _, p := range list {
			want[p.key] = p.value
		}
		for key := range keys {
			value := s.Get(key)
			if is, there := want[key]; there != (value != nil) || there && *value != is {
				t.Fatalf("step %d: %d has %v; want %d, %t", i, key, value, is, there)
			}
		}
		if s.Len() != len(want) {
			t.Fatalf("step %d: %d values, want %d", i, s.Len(), len(want))
		}
	}
}

func TestPutAllocatesNothingAtAPace(t *testing.T) {
	var s leases.Set[int, int]
	now := time.Duration(0)
	step := func() {
		now++
		s.Put(int(now)%64, 1, now+32, 1000)
		s.Expire(now)
	}
	for range 10_000 {
		step()
	}
	if n := testing.AllocsPerRun(10_000, step); n > 0.5 {
		t.Errorf("%v allocations for each", n)
	}
}
