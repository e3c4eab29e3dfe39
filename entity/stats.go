package entity

import (
	"log/slog"

	"github.com/cellscape/cellscape/property"
)

// NewPropertyStats returns zero counts of property traffic for the types of s. A
// change larger than its property's WarnBytes is logged as a warning: the first, and
// then each time that their number has doubled.
func NewPropertyStats(s *property.Schema, log *slog.Logger) *property.Stats {
	stats := property.NewStats(s)
	stats.Oversize = func(d *property.Definition, p *property.Property, bytes int) {
		log.Warn("a change is larger than its property should have", "type", d.Name, "property", p.Name, "bytes", bytes, "limit", p.WarnBytes)
	}
	return stats
}
