package websocket

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/cellscape/cellscape/mercury"
)

// open makes a WebSocket of the page's. The browser looks up names, checks certificates, and sends the
// headers that it wants.
func (d dialer) open(ctx context.Context, url string) (ws *websocket.Conn, socket net.Conn, resp *http.Response, err error) {
	if len(d.cfg.Header) > 0 {
		return nil, nil, nil, fmt.Errorf("%w: Config.Header is given, and a page cannot send headers", mercury.ErrAddress)
	}
	ws, resp, err = websocket.Dial(ctx, url, nil)
	return ws, nil, resp, err
}
