"""Several finished runs beside each other: the comparison page, drift, overlap."""
