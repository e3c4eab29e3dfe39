package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cellscape/cellscape/entity/store"
)

func testReserve(b *bench) {
	const callers, calls = 6, 8
	var mu sync.Mutex
	taken := make(map[uint64]bool)
	var wait sync.WaitGroup
	for c := range callers {
		wait.Go(func() {
			for i := range calls {
				n := uint64(c + i + 1)
				first, err := b.s.Reserve(b.ctx, store.Allocators, n)
				if err != nil || first == 0 {
					b.Errorf("Reserve: %d, %v", first, err)
					return
				}
				mu.Lock()
				for k := first; k < first+n; k++ {
					if taken[k] {
						b.Errorf("number %d was given twice", k)
					}
					taken[k] = true
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	b.reopen()
	first, err := b.s.Reserve(b.ctx, store.Allocators, 1)
	if err != nil || taken[first] {
		b.Errorf("after opening anew: %d, %v", first, err)
	}
	if other, err := b.s.Reserve(b.ctx, store.EntityIDs("Avatar"), 5); err != nil || other != 1 {
		b.Errorf("another counter begins at %d, %v", other, err)
	}
}

func testBlobs(b *bench) {
	_, err := b.s.Get(b.ctx, "space/1")
	b.want(err, store.ErrMissing)
	v1, err := b.s.Put(b.ctx, "space/1", []byte("meadow"), 0)
	b.must(err)
	_, err = b.s.Put(b.ctx, "space/1", []byte("other"), 0)
	b.want(err, store.ErrStale)
	v2, err := b.s.Put(b.ctx, "space/1", []byte{0, 1}, v1)
	b.must(err)
	_, err = b.s.Put(b.ctx, "space/1", nil, v1)
	b.want(err, store.ErrStale)
	b.want(b.s.Remove(b.ctx, "space/1", v1), store.ErrStale)
	b.reopen()
	got, err := b.s.Get(b.ctx, "space/1")
	if err != nil || got.Key != "space/1" || got.Version != v2 || !bytes.Equal(got.Data, []byte{0, 1}) {
		b.Fatalf("%+v, %v", got, err)
	}
	b.must(b.s.Remove(b.ctx, "space/1", v2))
	b.want(b.s.Remove(b.ctx, "space/1", v2), store.ErrMissing)
	v3, err := b.s.Put(b.ctx, "space/1", nil, 0)
	if err != nil || v3 <= v2 || v2 <= v1 {
		b.Errorf("versions %d, %d, %d, %v", v1, v2, v3, err)
	}
	for i := range 5 {
		for _, k := range []string{"spacf", "space0", "space/æ", "space/b_", "Space/"} {
			_, err := b.s.Put(b.ctx, fmt.Sprint(k, i), []byte{byte(i)}, 0)
			b.must(err)
		}
	}
	b.must(listed(b, "space/", 11))
	b.must(listed(b, "space/æ", 5))
	b.must(listed(b, "", 26))
	b.must(listed(b, "%", 0))
	testLease(b)
}

// listed turns the pages of a list.
func listed(b *bench, prefix string, want int) error {
	var keys []string
	for after := ""; ; {
		list, err := b.s.List(b.ctx, prefix, after, 3)
		if err != nil {
			return err
		}
		for _, x := range list {
			keys = append(keys, x.Key)
		}
		if len(list) < 3 {
			break
		}
		after = list[len(list)-1].Key
	}
	if len(keys) != want || !slices.IsSorted(keys) {
		return fmt.Errorf("%d keys with %q, want %d: %q", len(keys), prefix, want, keys)
	}
	return nil
}

// testLease has several want to be the manager at once: one is.
func testLease(b *bench) {
	v, err := b.s.Put(b.ctx, "lease", []byte("nobody"), 0)
	b.must(err)
	var mu sync.Mutex
	won := 0
	var wait sync.WaitGroup
	for c := range 6 {
		wait.Go(func() {
			switch _, err := b.s.Put(b.ctx, "lease", []byte{byte(c)}, v); {
			case err == nil:
				mu.Lock()
				won++
				mu.Unlock()
			case !errors.Is(err, store.ErrStale):
				b.Errorf("Put: %v", err)
			}
		})
	}
	wait.Wait()
	if won != 1 {
		b.Errorf("%d have the lease", won)
	}
}
