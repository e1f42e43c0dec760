"""Plans that are carried out to-do by to-do: the list as a file, which agents write and people edit."""
