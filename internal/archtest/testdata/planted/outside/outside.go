// Package outside imports what only adapters may.
package outside

import (
	_ "crypto/rand"
	_ "hash/maphash"
	_ "net"
	_ "net/netip"
	_ "os"
	"sync"
	_ "sync/atomic"
)

// Each is the range over a map that needs no map.
func Each(m *sync.Map) {
	m.Range(nil)
}
