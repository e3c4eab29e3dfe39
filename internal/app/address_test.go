package app_test

import (
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
)

var (
	addr4 = mercury.Address{At: netip.MustParseAddrPort("10.1.2.3:20013"), Salt: 0xdeadbeef}
	addr6 = mercury.Address{At: netip.MustParseAddrPort("[2001:db8::7]:443"), Salt: 7}
)
