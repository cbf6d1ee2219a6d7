#include <evalcore/evalcore.h>
