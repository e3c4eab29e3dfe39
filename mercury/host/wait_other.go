//go:build !linux

package host

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

func newWaiter(_ func() time.Duration, carriers []mercury.Carrier) waiter {
	return atCarrier{carriers[0]}
}
