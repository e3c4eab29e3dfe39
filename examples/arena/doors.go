package main

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/space/cluster"
)

// openDoors says where the bots come in, and over which network the processes talk to each other.
func openDoors(cfg *cluster.Config, f *flags) error {
	cfg.Inner = f.inner
	door := cluster.Door{Network: cluster.UDP, Listen: f.public, Clear: !f.seal}
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
	cfg.Doors = []cluster.Door{door}
	if f.rtt > 0 {
		openFar(cfg, f)
	}
	return nil
}
