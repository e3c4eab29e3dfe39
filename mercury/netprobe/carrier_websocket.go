package main

import "github.com/cellscape/cellscape/mercury/websocket"

func websocketTransport() transport {
	return transport{
		name: "websocket",
		open: openWebSocket,
		protection: func(o options) string {
			if o.plain {
				return "none"
			}
			return "TLS 1.3"
		},
		wire: tcpNote + "; 0 with TLS: take -plain for them",
	}
}

func openWebSocket(o options, r role) (carrier, error) {
	cfg := websocket.Config{}
	if !o.plain {
		server, client, err := o.certificates()
		if err != nil {
			return nil, err
		}
		if r.server {
			cfg.TLS = server
		} else {
			cfg.DialTLS = client
		}
	}
	t, err := websocket.Listen(listenAt(r), cfg, nil)
	if err != nil {
		return nil, err
	}
	return newStreamCarrier(t.Transport, ipHeader(r.at)), nil
}
