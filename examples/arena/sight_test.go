package main

import "testing"

// TestLateMoves: which runs fail because of what players saw.
func TestLateMoves(t *testing.T) {
	for name, c := range map[string]struct {
		v     verdict
		fails bool
	}{
		"in time":               {verdict{Sight: Sight{Moves: 1e5, Arrived: 99.2}, arrive: 99}, false},
		"late":                  {verdict{Sight: Sight{Moves: 1e5, Arrived: 0.3}, arrive: 99}, true},
		"late by another limit": {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 40}, false},
		"a machine too slow":    {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 99, Ticks: 100, LateTicks: 20}, false},
		"too little to judge":   {verdict{Sight: Sight{Moves: 10}, arrive: 99}, false},
		"after a death":         {verdict{Sight: Sight{Moves: 1e5, Arrived: 50}, arrive: 99, deaths: 1}, false},
	} {
		if err := c.v.lateMoves(); (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
