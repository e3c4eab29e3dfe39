package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cellscape/cellscape/entity/store"
)

// Begin implements store.Store.
func (s *Store) Begin(ctx context.Context) (uint64, error) {
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	s.start++
	return s.start, nil
}

// Reserve implements store.Store.
func (s *Store) Reserve(ctx context.Context, c store.Counter, n uint64) (uint64, error) {
	if err := store.CheckReserve(c, n); err != nil {
		return 0, err
	}
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if s.counters[c]+n > uint64(store.MaxID) {
		return 0, fmt.Errorf("%w: the numbers of %s are used up", store.ErrValue, c)
	}
	s.counters[c] += n
	return s.counters[c] - n + 1, nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Blob, error) {
	if err := store.CheckBlob(key, nil); err != nil {
		return store.Blob{}, err
	}
	if err := s.lock(ctx, false); err != nil {
		return store.Blob{}, err
	}
	defer s.mu.Unlock()
	b, ok := s.blobs[key]
	if !ok {
		return b, fmt.Errorf("%w: blob %q", store.ErrMissing, key)
	}
	b.Data = bytes.Clone(b.Data)
	return b, nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, data []byte, version uint64) (uint64, error) {
	if err := store.CheckBlob(key, data); err != nil {
		return 0, err
	}
	if err := s.lock(ctx, false); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if s.blobs[key].Version != version {
		return 0, fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
	}
	s.blobVersion++
	s.blobs[key] = store.Blob{Key: key, Version: s.blobVersion, Data: bytes.Clone(data)}
	return s.blobVersion, nil
}

// Remove implements store.Store.
func (s *Store) Remove(ctx context.Context, key string, version uint64) error {
	if err := store.CheckBlob(key, nil); err != nil {
		return err
	}
	if err := s.lock(ctx, false); err != nil {
		return err
	}
	defer s.mu.Unlock()
	b, ok := s.blobs[key]
	if !ok {
		return fmt.Errorf("%w: blob %q", store.ErrMissing, key)
	}
	if b.Version != version {
		return fmt.Errorf("%w: blob %q is not of version %d", store.ErrStale, key, version)
	}
	delete(s.blobs, key)
	return nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]store.Blob, error) {
	if err := store.CheckList(prefix, after, limit); err != nil {
		return nil, err
	}
	if err := s.lock(ctx, false); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []store.Blob
	// order does not show: they are sorted
	for key, b := range s.blobs {
		if strings.HasPrefix(key, prefix) && key > after {
			b.Data = bytes.Clone(b.Data)
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b store.Blob) int { return strings.Compare(a.Key, b.Key) })
	return list[:min(limit, len(list))], nil
}
