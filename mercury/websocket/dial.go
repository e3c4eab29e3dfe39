package websocket

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
)

// dialer makes connections of one Transport.
type dialer struct {
	cfg        Config
	maxMessage int
}

// url is the URL of the peer at a place.
func (d dialer) url(to netip.AddrPort) string {
	if d.cfg.URL != nil {
		return d.cfg.URL(to)
	}
	scheme := "ws"
	if d.cfg.DialTLS != nil {
		scheme = "wss"
	}
	return scheme + "://" + to.String() + d.cfg.path()
}

func (d dialer) dial(ctx context.Context, to netip.AddrPort) (stream.Conn, error) {
	url := d.url(to)
	if d.cfg.DialTLS != nil && !strings.HasPrefix(url, "wss:") && !strings.HasPrefix(url, "https:") {
		return nil, fmt.Errorf("%w: Config.URL gives %q, which is in the clear, and Config.DialTLS is set", mercury.ErrAddress, url)
	}
	ws, socket, resp, err := d.open(ctx, url)
	if err != nil {
		return nil, dialError(err, resp)
	}
	return newConn(ws, socket, d.maxMessage), nil
}

// dialError separates final errors from those that another try may not meet.
func dialError(err error, resp *http.Response) error {
	if key := stream.Distrusted(err); key != nil {
		return key
	}
	switch {
	case resp != nil && resp.StatusCode/100 == 4 && resp.StatusCode != http.StatusTooManyRequests:
		return fmt.Errorf("%w: answered %s: %w", mercury.ErrProtocol, resp.Status, err)
	}
	return err
}
