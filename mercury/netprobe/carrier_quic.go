package main

import (
	"github.com/cellscape/cellscape/mercury/quic"
)

func quicTransport() transport {
	return transport{
		name:       "quic",
		open:       openQUIC,
		protection: func(options) string { return "TLS 1.3" },
		wire:       "wire_bytes count QUIC packets as datagrams, without connections that failed; resends are not told",
		noPlain:    true,
		datagrams:  true,
	}
}

func openQUIC(o options, r role) (carrier, error) {
	server, client, err := o.certificates()
	if err != nil {
		return nil, err
	}
	cfg := quic.Config{}
	if r.server {
		cfg.TLS = server
	} else {
		cfg.DialTLS = client
	}
	t, err := quic.Listen(listenAt(r), cfg, nil)
	if err != nil {
		return nil, err
	}
	return newStreamCarrier(t.Transport, ipHeader(r.at)+udpHeader), nil
}
