#pragma once

// Marks what a shared libmummu shows; everything else is hidden.
#define MUMMU_API __attribute__((visibility("default")))
