package bots_test

import (
	"math"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// A bot of a Star goes out along a ray, back to the centre, and out again, never faster than it
// says and never off the rays. A Func sees each of its steps.
func TestStar(t *testing.T) {
	w, schema, err := world()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop() })
	const x, z, radius, speed, tick = 3, -4, 3, 20, 20 * time.Millisecond
	var path []property.Vector3 // on the goroutine of the bot's group
	swarm, err := bots.Start(bots.Config{
		Bots: 1, LoginApp: w.LoginAddr(), Schema: schema, Tick: tick,
		Behave: func(int) bots.Behaviour {
			star := &bots.Star{X: x, Z: z, Radius: radius, Rays: 4, Speed: speed}
			return bots.All{star, bots.Func(func(b *bots.Bot) { path = append(path, b.Player().Position) })}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tips := 0
	for end := time.Now().Add(30 * time.Second); tips < 3; time.Sleep(tick) {
		if err := swarm.Each(func(*bots.Bot) {
			tips = walked(t, path, property.Vector3{X: x, Z: z}, radius, speed*float32(tick.Seconds()))
		}); err != nil {
			t.Fatal(err)
		}
		if t.Failed() || time.Now().After(end) {
			t.Fatalf("%d tips on the way %v", tips, path)
		}
	}
	if err := swarm.Stop(); err != nil {
		t.Fatal(err)
	}
}

// walked checks a path, and counts the tips of rays on it.
func walked(t *testing.T, path []property.Vector3, centre property.Vector3, radius, step float32) (tips int) {
	const slack = 1e-3
	began, outward := false, true // from where it came in it goes to the first tip, straight
	for i, at := range path {
		if i > 0 && property.Distance(path[i-1], at) > step+slack {
			t.Errorf("a step of %v m", property.Distance(path[i-1], at))
		}
		far, dx, dz := property.Distance(centre, at), at.X-centre.X, at.Z-centre.Z
		atTip, atCentre := math.Abs(float64(far-radius)) < slack, far < slack
		if began = began || atTip; !began {
			continue
		}
		if far > radius+slack || min(math.Abs(float64(dx)), math.Abs(float64(dz))) > slack {
			t.Errorf("off the rays at %v", at)
		}
		switch {
		case atTip && outward:
			tips, outward = tips+1, false
		case atCentre && !outward:
			outward = true
		case atTip && i > 0 && path[i-1] != at:
			t.Errorf("at a tip, %v, and not by the centre", at)
		}
	}
	return tips
}
