package session

import (
	"crypto/sha256"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"sync"

	"github.com/cellscape/cellscape/mercury/websocket"
)

// A page has no sockets and no addresses: it dials WebSockets, by name, as certificates demand. The session
// goes by addresses all the same. So the LoginApp has one that stands for its name, and BaseApps have those
// that the world tells, with their names (protocol.Door). What a page needs for that is here, and not in
// carrier_js.go, so that it is tested like the rest.

// maxNames bounds the names of BaseApps that are kept: more than a player meets in a day.
const maxNames = 1024

// standIn is the address that stands for a host: its own, if it is one, or of a block that is nobody's
// (RFC 1112), the same for the same name.
func standIn(host string) netip.Addr {
	if at, err := netip.ParseAddr(host); err == nil {
		return at
	}
	if host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}) // where a session in the clear is allowed
	}
	sum := sha256.Sum256([]byte(host))
	return netip.AddrFrom4([4]byte{240 | sum[0]&15, sum[1], sum[2], sum[3]})
}

// names are the hosts of what a page dials. Carriers ask for them from goroutines of their own.
type names struct {
	login address
	at    netip.AddrPort // that stands for login

	mu    sync.Mutex
	known map[netip.AddrPort]string
}

func newNames(login *address, at netip.AddrPort) *names {
	return &names{login: *login, at: at, known: make(map[netip.AddrPort]string)}
}

// put learns the name of a BaseApp.
func (n *names) put(at netip.AddrPort, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[at] = name
}

// of is the name to dial by, or the address of a BaseApp that has none.
func (n *names) of(at netip.AddrPort) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at == n.at {
		return n.login.host
	}
	if name := n.known[at]; name != "" {
		return name
	}
	return at.Addr().String()
}

// url is what the page dials. BaseApps answer at the path at which the LoginApp does.
func (n *names) url(to netip.AddrPort) string {
	u := url.URL{Scheme: n.login.scheme, Host: net.JoinHostPort(n.of(to), strconv.Itoa(int(to.Port()))), Path: n.login.path}
	if u.Path == "" {
		u.Path = websocket.DefaultPath
	}
	return u.String()
}
