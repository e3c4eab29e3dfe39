package app

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// AppendTraffic appends the rows of s with the most bytes, the largest first, for a report.
func AppendTraffic(list []status.PropertyTraffic, s *property.Stats) []status.PropertyTraffic {
	for row := range s.Rows() {
		x := status.PropertyTraffic{Type: row.Type.Name, Way: row.Traffic.String(), Changes: row.Count.Changes, Bytes: row.Count.Bytes}
		if row.Property != nil {
			x.Property = row.Property.Name
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(x, y status.PropertyTraffic) int { return cmp.Compare(y.Bytes, x.Bytes) })
	return list[:min(len(list), wire.MaxTraffic)]
}
