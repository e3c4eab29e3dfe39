// Package maprange shows the order of maps.
package maprange

import (
	"maps"
	"reflect"
	"slices"
)

type table map[string]int

// Show does it.
func Show[M ~map[K]V, K comparable, V any](t table, m M) (keys []string) {
	for k := range t {
		keys = append(keys, k)
	}
	for range m {
		keys = append(keys, "")
	}
	for k := range maps.Keys(t) {
		keys = append(keys, k)
	}
	keys = append(keys, slices.Collect(maps.Keys(t))...)
	_ = maps.All(t)
	_ = maps.Values[table]
	_ = reflect.ValueOf(t).MapKeys()
	_ = reflect.ValueOf(t).MapRange()
	// order does not show:
	for range t {
		keys = nil
	}
	// order does not show: there is no map below
	keys = append(keys, "")
	return keys
}
