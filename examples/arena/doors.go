package main

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/cellscape/cellscape/examples/internal/certificate"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cluster"
)

// openDoors says where players come in, and over which network the processes talk to each other.
func openDoors(cfg *cluster.Config, f *flags) error {
	cfg.Inner = f.inner
	door := cluster.Door{Listen: f.public}
	if f.advertise != "" {
		var err error
		if door.Advertise, err = netip.ParseAddr(f.advertise); err != nil {
			return fmt.Errorf("-advertise %q: give the IP address that players dial: %w", f.advertise, err)
		}
	}
	if f.ports != "" {
		if _, err := fmt.Sscanf(f.ports, "%d-%d", &door.Ports.First, &door.Ports.Last); err != nil {
			return fmt.Errorf("-ports %q: give a range, such as 20100-20199: %w", f.ports, err)
		}
	}
	cfg.Doors = nil
	for network := range strings.SplitSeq(cmp.Or(f.doors, cluster.UDP), ",") {
		door.Network, door.Clear = network, network == cluster.UDP && !f.seal
		cfg.Doors = append(cfg.Doors, door)
	}
	if f.rtt > 0 {
		openFar(cfg, f)
	}
	if f.cert == "" {
		return nil
	}
	cert, err := certificate.Make(f.cert, f.public, f.advertise)
	if err != nil {
		return fmt.Errorf("-cert: %w", err)
	}
	cfg.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	return nil
}

// invite prints how to visit the world by each of its doors, if it is open to visitors. The door
// over UDP is sealed by the world's key, the others by the certificate.
func invite(w io.Writer, f *flags, urls []string, key secure.PrivateKey) {
	if f.doors == "" {
		return
	}
	for _, url := range urls {
		trust := ""
		switch {
		case !strings.HasPrefix(url, "udp://"):
			trust = " -ca " + f.cert
		case !key.IsZero():
			trust = " -key " + key.Public().String()
		}
		fmt.Fprintf(w, "to visit: go run ./examples/visitor -url %s%s\n", url, trust)
	}
}
